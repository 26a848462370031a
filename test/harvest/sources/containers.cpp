// A harvest of the C++ library: containers, streams, algorithms, text. Nothing
// here is meant to be differentiated.
#include <algorithm>
#include <any>
#include <bitset>
#include <charconv>
#include <chrono>
#include <complex>
#include <deque>
#include <forward_list>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>

template class std::vector<double>;
template class std::vector<float>;
template class std::vector<std::string>;
template class std::deque<double>;
template class std::list<double>;
template class std::map<int, double>;
template class std::map<std::string, std::vector<double>>;
template class std::set<double>;
template class std::unordered_map<std::string, double>;
template class std::basic_string<char>;
template class std::mersenne_twister_engine<uint_fast64_t, 64, 312, 156, 31, 0xb5026f5aa96619e9, 29, 0x5555555555555555, 17,
                                            0x71d67fffeda60000, 37, 0xfff7eee000000000, 43, 6364136223846793005>;
template class std::normal_distribution<double>;
template class std::gamma_distribution<double>;
template class std::poisson_distribution<int>;
template class std::uniform_real_distribution<double>;
template class std::exponential_distribution<double>;
template class std::cauchy_distribution<double>;
template class std::student_t_distribution<double>;
template class std::discrete_distribution<int>;
template class std::piecewise_linear_distribution<double>;
template class std::basic_regex<char>;

struct Record {
  std::string Name;
  double Value;
  std::vector<float> Samples;
  std::optional<double> Limit;
  std::variant<int, double, std::string> Extra;
};

double mean(const std::vector<double> &V) {
  return V.empty() ? 0 : std::accumulate(V.begin(), V.end(), 0.0) / V.size();
}
double variance(const std::vector<double> &V) {
  double M = mean(V);
  return std::accumulate(V.begin(), V.end(), 0.0,
                         [M](double S, double X) { return S + (X - M) * (X - M); }) /
         std::max<size_t>(V.size(), 1);
}
double median(std::vector<double> V) {
  std::nth_element(V.begin(), V.begin() + V.size() / 2, V.end());
  return V[V.size() / 2];
}
std::vector<double> smooth(const std::vector<double> &V, double A) {
  std::vector<double> R;
  double S = V.front();
  std::transform(V.begin(), V.end(), std::back_inserter(R), [&](double X) { return S += A * (X - S); });
  return R;
}
std::map<std::string, double> totals(const std::vector<Record> &R) {
  std::map<std::string, double> T;
  for (const Record &X : R)
    T[X.Name] += X.Value * std::accumulate(X.Samples.begin(), X.Samples.end(), 1.0f) + X.Limit.value_or(0);
  return T;
}
std::string report(const std::vector<Record> &R) {
  std::ostringstream OS;
  OS << std::setprecision(4) << std::fixed;
  for (const Record &X : R)
    OS << std::setw(10) << X.Name << ' ' << X.Value << '\n';
  return OS.str();
}
std::vector<double> parse(const std::string &Text) {
  std::vector<double> V;
  std::istringstream IS(Text);
  for (double X; IS >> X;)
    V.push_back(X);
  static const std::regex Number("[-+]?[0-9]+(\\.[0-9]*)?");
  for (std::sregex_iterator I(Text.begin(), Text.end(), Number), E; I != E; ++I)
    V.push_back(std::stod(I->str()));
  return V;
}
std::complex<double> roots(std::complex<double> A, std::complex<double> B) {
  return std::sqrt(A * A - B) / (A + std::exp(B)) + std::pow(A, 0.5) + std::polar(std::abs(A), std::arg(B));
}
double interpolate(const std::map<double, double> &M, double X) {
  auto Hi = M.lower_bound(X);
  if (Hi == M.begin() || Hi == M.end())
    throw std::out_of_range("interpolate");
  auto Lo = std::prev(Hi);
  return Lo->second + (Hi->second - Lo->second) * (X - Lo->first) / (Hi->first - Lo->first);
}
double dijkstra(const std::vector<std::vector<std::pair<int, double>>> &G, int From, int To) {
  std::vector<double> D(G.size(), 1e300);
  std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> Q;
  D[From] = 0;
  Q.push({0, From});
  while (!Q.empty()) {
    auto [L, N] = Q.top();
    Q.pop();
    if (L > D[N])
      continue;
    for (auto [M, W] : G[N])
      if (L + W < D[M]) {
        D[M] = L + W;
        Q.push({D[M], M});
      }
  }
  return D[To];
}
double simpson(const std::function<double(double)> &F, double A, double B, int N) {
  double H = (B - A) / N, S = F(A) + F(B);
  for (int I = 1; I < N; ++I)
    S += F(A + I * H) * (I % 2 ? 4 : 2);
  return S * H / 3;
}
double sample(unsigned Seed, double Mean, double Deviation) {
  std::mt19937_64 E(Seed);
  std::normal_distribution<double> N(Mean, Deviation);
  std::gamma_distribution<double> G(2.0, Deviation);
  std::poisson_distribution<int> P(Mean);
  return N(E) + G(E) + P(E);
}
double timed(double X) {
  auto T = std::chrono::steady_clock::now();
  std::this_thread::yield();
  return X * std::chrono::duration<double>(std::chrono::steady_clock::now() - T).count();
}
double shared(std::shared_ptr<std::vector<double>> P, double X) {
  static std::mutex Lock;
  std::lock_guard<std::mutex> G(Lock);
  P->push_back(X);
  return P->back() * P->size();
}
size_t words(std::istream &IS) {
  std::unordered_map<std::string, size_t> C;
  for (std::string W; IS >> W;)
    ++C[W];
  size_t N = 0;
  for (auto &[K, V] : C)
    N = std::max(N, V);
  return N;
}
double any(const std::any &A) {
  if (auto *P = std::any_cast<double>(&A))
    return *P;
  return std::any_cast<float>(A);
}
double lists(double X) {
  std::list<double> L = {X, 2 * X, 3};
  L.splice(L.begin(), std::list<double>{X * X});
  L.sort();
  std::forward_list<double> F(L.begin(), L.end());
  F.reverse();
  std::stack<double> S;
  for (double V : F)
    S.push(V);
  return S.top();
}
double arrays(std::valarray<double> V) {
  std::valarray<double> W = std::exp(V) * V + 1.0;
  std::valarray<double> H = W[std::slice(0, W.size() / 2, 2)];
  return H.sum() + W.max();
}
