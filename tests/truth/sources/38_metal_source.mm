// op-lint truth: text
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <ATen/mps/MPSStream.h>
#include <torch/library.h>

static NSString* const kSource = @"kernel void noop() {}";

@interface PipelineCache : NSObject
@property(nonatomic, strong) id<MTLLibrary> library;
- (id<MTLFunction>)functionNamed:(NSString*)name;
@end

at::Tensor apply_mps(const at::Tensor& x, int64_t rounds) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:kSource options:nil error:&error];
    dispatch_sync(at::mps::getCurrentMPSStream()->queue(), ^() {
      (void)library;
    });
  }
  return x;
}

TORCH_LIBRARY(metal, m) {
  m.def("apply(Tensor x, int rounds) -> Tensor");
}

TORCH_LIBRARY_IMPL(metal, MPS, m) {
  m.impl("apply", &apply_mps);
}
