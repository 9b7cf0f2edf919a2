"""How much of a machine an index takes: fitted to measured figures, for collections of any size."""
