// tests/gradbench/records.h -- the text files of GradBench's workloads: named arrays of numbers
//
// A record is a line `name rank extent…` and the values behind it, row-major; a file is a sequence
// of records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <hom/core/tensor.h>

namespace hom::gradbench {

/// Records by name, each as f64.
class Records {
 public:
  /// Throws `Error` for a file that is not there or does not have this form.
  static Records read(const std::string& path);

  bool has(const std::string& name) const { return all_.contains(name); }
  const std::map<std::string, Tensor>& all() const { return all_; }
  /// Throws `Error` for a name that is not there.
  const Tensor& operator[](const std::string& name) const;
  /// The only value of a record.
  std::int64_t integer(const std::string& name) const;
  /// The values of a record as i64.
  Tensor integers(const std::string& name) const;

 private:
  std::string path_;
  std::map<std::string, Tensor> all_;
};

}  // namespace hom::gradbench
