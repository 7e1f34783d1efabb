extern "C" int demo_ops_anchor();
extern "C" int demo_version() { return demo_ops_anchor(); }
