// core/npz.h -- read and write NumPy .npy and .npz files as raw host arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hom {

/// One array as NumPy's file format describes it, with its bytes on the host.
///
/// The element types are b1 (one byte, 0 or 1), i1 i2 i4 i8, u1 u2 u4 u8 (integers) and f2 f4 f8
/// (IEEE 754 floats); the digit is the size of an element in bytes.
struct NumpyArray {
  /// Element type: "|b1", "|i1", "|u1", or "<" and the type for elements of several bytes, such as
  /// "<f4". The readers only ever return these spellings. The writers also take "<b1", "<i1",
  /// "<u1".
  std::string descr;
  /// Extents, slowest first; empty for a scalar. At most 32, NumPy 1's own limit.
  std::vector<std::int64_t> shape;
  /// The elements, little endian, in C order: product(shape) * itemsize bytes.
  std::vector<std::byte> data;
};

/// Writes `arrays` to `path` as an uncompressed .npz archive that numpy.load() reads.
///
/// Entries keep their order; "w" is stored as "w.npy", as numpy.savez does. The same arrays always
/// give the same bytes: every entry is dated 1980-01-01. The file appears under its name only when
/// it is complete and flushed; on an error an older file of that name is left as it was.
///
/// Throws `Error` if a name is empty, repeated, too long or has a NUL byte, if an array's type is
/// unknown or its size differs from its shape's, and if the file can't be written.
void write_npz(const std::string& path,
               const std::vector<std::pair<std::string, NumpyArray>>& arrays);

/// Reads every array of the .npz archive `path`, in the archive's order, without the ".npy" of
/// their names. Reads what numpy.savez() and numpy.savez_compressed() write.
///
/// Fortran-ordered arrays are returned in C order, and big-endian ones byte-swapped.
///
/// Throws `Error` if the file is missing or no archive, if an entry isn't an .npy file of a known
/// element type, is truncated, has bytes left over or fails its checksum, and if a name is
/// repeated. The message names the file and the entry.
std::vector<std::pair<std::string, NumpyArray>> read_npz(const std::string& path);

/// Writes one array to `path` as an .npy file. Atomic, and throws, as write_npz() does.
void write_npy(const std::string& path, const NumpyArray& array);

/// Reads the one array of the .npy file `path`. Converts, and throws, as read_npz() does.
NumpyArray read_npy(const std::string& path);

}  // namespace hom
