#include "kernels/cpu/sample_rows.hpp"

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sample_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;
constexpr Lanes df;

HWY_INLINE Vector load_samples(const float* from) {
  return hn::LoadU(df, from);
}
template <class T>
HWY_INLINE Vector load_samples(const T* from) {
  const hn::Rebind<T, Lanes> narrow;
  const hn::Rebind<std::int32_t, Lanes> wide;
  return hn::ConvertTo(df, hn::PromoteTo(wide, hn::LoadU(narrow, from)));
}

HWY_INLINE void store_samples(Vector value, float* to) {
  hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, hn::Set(df, __builtin_nanf(""))), df, to);
}
template <class T>
HWY_INLINE void store_samples(Vector value, T* to) {
  const Vector positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(df)), value);  // NaN becomes 0
  const Vector within = hn::Min(positive, hn::Set(df, float(T(-1))));
  const hn::Rebind<T, Lanes> narrow;
  hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(within)), narrow, to);
}

template <class T>
void centre_row_of(const T* samples, int n, float centre, float* out) {
  const int lanes = int(hn::Lanes(df));
  for (int x = 0; x < n; x += lanes)
    hn::StoreU(hn::Sub(load_samples(samples + x), hn::Set(df, centre)), df, out + x);
}

template <class T>
void finish_row_of(const FloatFinish& finish, const float* sums, int n, T* out) {
  const int lanes = int(hn::Lanes(df));
  const Vector scale = hn::Set(df, finish.scale), offset = hn::Set(df, finish.offset);
  for (int x = 0; x < n; x += lanes)
    store_samples(hn::MulAdd(hn::LoadU(df, sums + x), scale, offset), out + x);
}

void centre_row_u8(const std::uint8_t* samples, int n, float centre, float* out) {
  centre_row_of(samples, n, centre, out);
}
void centre_row_u16(const std::uint16_t* samples, int n, float centre, float* out) {
  centre_row_of(samples, n, centre, out);
}
void centre_row_f32(const float* samples, int n, float centre, float* out) {
  centre_row_of(samples, n, centre, out);
}
void finish_row_u8(const FloatFinish& finish, const float* sums, int n, std::uint8_t* out) {
  finish_row_of(finish, sums, n, out);
}
void finish_row_u16(const FloatFinish& finish, const float* sums, int n, std::uint16_t* out) {
  finish_row_of(finish, sums, n, out);
}
void finish_row_f32(const FloatFinish& finish, const float* sums, int n, float* out) {
  finish_row_of(finish, sums, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

HWY_EXPORT(centre_row_u8);
HWY_EXPORT(centre_row_u16);
HWY_EXPORT(centre_row_f32);
HWY_EXPORT(finish_row_u8);
HWY_EXPORT(finish_row_u16);
HWY_EXPORT(finish_row_f32);

void centre_row(const std::uint8_t* samples, int n, float centre, float* out) {
  HWY_DYNAMIC_DISPATCH(centre_row_u8)(samples, n, centre, out);
}
void centre_row(const std::uint16_t* samples, int n, float centre, float* out) {
  HWY_DYNAMIC_DISPATCH(centre_row_u16)(samples, n, centre, out);
}
void centre_row(const float* samples, int n, float centre, float* out) {
  HWY_DYNAMIC_DISPATCH(centre_row_f32)(samples, n, centre, out);
}
void finish_row(const FloatFinish& finish, const float* sums, int n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(finish_row_u8)(finish, sums, n, out);
}
void finish_row(const FloatFinish& finish, const float* sums, int n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(finish_row_u16)(finish, sums, n, out);
}
void finish_row(const FloatFinish& finish, const float* sums, int n, float* out) {
  HWY_DYNAMIC_DISPATCH(finish_row_f32)(finish, sums, n, out);
}

}  // namespace convfilt::cpu
#endif
