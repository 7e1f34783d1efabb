import torch
import demo_feat.torch

torch.ops.load_library("/srv/exported/libdemo_other.so")
