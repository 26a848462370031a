/* Forward and reverse mode from C, by markers. */
#include "../check.h"
#include "model.h"
#include <adjoin.h>

struct pair {
  double value, tangent;
};
struct pair __adjoin_fwddiff_pair(void *, ...);
struct partials {
  double stretch, stiffness;
};
struct partials __adjoin_autodiff_partials(void *, ...);

int main(void) {
  /* Without tags a float has a tangent behind it in forward mode, and its adjoint is returned in reverse mode. */
  check("d spring / d stretch", __adjoin_fwddiff((void *)spring, 3.0, 1.0, 2.0, 0.0), 6);
  struct pair p = __adjoin_fwddiff_pair((void *)spring, adjoin_primal_return, adjoin_dup, 3.0, 1.0, adjoin_const, 2.0);
  check("spring, its value", p.value, 9);
  check("spring, its tangent", p.tangent, 6);
  struct partials g = __adjoin_autodiff_partials((void *)spring, 3.0, 2.0);
  check("reverse, stretch", g.stretch, 6);
  check("reverse, stiffness", g.stiffness, 4.5);

  /* Arrays: dup, followed by the shadow. */
  double x[3] = {0, 1.5, 2}, dx[3] = {1, 0, 0}, gx[3] = {0, 0, 0};
  check("energy, along x[0]", __adjoin_fwddiff((void *)energy, adjoin_dup, x, dx, adjoin_const, 3, adjoin_const, 2.0), -1);
  double stiffness = __adjoin_autodiff((void *)energy, adjoin_dup, x, gx, adjoin_const, 3, adjoin_out, 2.0);
  check("d energy / d x[0]", gx[0], -1);
  check("d energy / d x[1]", gx[1], 2);
  check("d energy / d x[2]", gx[2], -1);
  check("d energy / d stiffness", stiffness, 0.25);

  /* Memory that is overwritten: its shadow is the seed, and then the adjoint of what was there before. */
  double y[4] = {0, 1, 3, 7}, seed[4] = {0, 0, 1, 0};
  double rate = __adjoin_autodiff((void *)relax, adjoin_dup, y, seed, adjoin_const, 4, adjoin_out, 0.25);
  check("relaxed x[1]", y[1], 1.25);
  check("relaxed x[2]", y[2], 3.5625);
  check("d x[2] / d x[0]", seed[0], 0.0625);
  check("d x[2] / d x[1]", seed[1], 0.125);
  check("d x[2] / d x[2]", seed[2], 0.5625);
  check("d x[2] / d x[3]", seed[3], 0.25);
  check("d x[2] / d rate", rate, 2.5);
  return wrong;
}
