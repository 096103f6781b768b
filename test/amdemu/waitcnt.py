def check(*a): return []
