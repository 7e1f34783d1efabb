import torch

torch.ops.load_library("/srv/exported/libdemo_feat.so")
