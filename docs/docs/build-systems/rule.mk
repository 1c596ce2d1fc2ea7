%.gc3b: %.gc3
	gc3c $< -o $@ -MD -MP
-include $(wildcard *.d)
