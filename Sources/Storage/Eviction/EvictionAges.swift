/// A histogram of bytes by age since the last touch. It replaces sorting rows by age, which would need all
/// rows in memory or an index that every touch updates.
struct EvictionAges: Equatable {
  /// The width of classes doubles every fourth class, so the ages in one class differ by a quarter at most.
  private static let classesPerOctave = 4
  private static let classCount = 64 * classesPerOctave

  private var bytes = [Int](repeating: 0, count: classCount)

  var isEmpty: Bool { bytes.allSatisfy { $0 == 0 } }

  mutating func add(age: Duration, bytes count: Int) {
    bytes[Self.ageClass(of: age)] += count
  }

  /// Returns the cut that frees `goal` bytes of the oldest rows and not more than needed.
  func cut(freeing goal: Int) -> EvictionCut {
    var left = goal
    for ageClass in bytes.indices.reversed() where bytes[ageClass] > 0 {
      if bytes[ageClass] >= left { return EvictionCut(oldest: ageClass, allowance: max(0, left)) }
      left -= bytes[ageClass]
    }
    return EvictionCut(oldest: 0, allowance: max(0, left))
  }

  /// Returns the class of an age; it grows with the age. Negative ages count as zero.
  static func ageClass(of age: Duration) -> Int {
    let seconds = UInt64(max(0, age.components.seconds)) + UInt64(classesPerOctave)
    let octave = 63 - seconds.leadingZeroBitCount
    let quarter = Int(seconds >> UInt64(octave - 2)) & (classesPerOctave - 1)
    return octave * classesPerOctave + quarter
  }
}

/// The rule for which rows are old enough to evict: all rows older than one class of ages, and rows of that
/// class while its allowance lasts.
struct EvictionCut: Equatable {
  /// The youngest class that loses rows; all older classes lose all of theirs.
  let oldest: Int
  /// Bytes still to be evicted from this class.
  private(set) var allowance: Int

  func takes(age: Duration) -> Bool {
    let ageClass = EvictionAges.ageClass(of: age)
    return ageClass > oldest || (ageClass == oldest && allowance > 0)
  }

  mutating func note(age: Duration, bytes: Int) {
    if EvictionAges.ageClass(of: age) == oldest { allowance -= bytes }
  }
}
