#ifdef __cplusplus
extern "C" {
#endif
double f(double x);
double f_by_hand(double x);
#ifdef __cplusplus
}
#endif
