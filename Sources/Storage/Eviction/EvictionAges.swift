/// How many bytes were last touched how long ago: a histogram that stands in for sorting rows by
/// their age, which would need them all at once or an index on every touch.
struct EvictionAges: Equatable {
  /// Classes double in width every fourth, so one holds ages within a quarter of each other.
  private static let classesPerOctave = 4
  private static let classCount = 64 * classesPerOctave

  private var bytes = [Int](repeating: 0, count: classCount)

  var isEmpty: Bool { bytes.allSatisfy { $0 == 0 } }

  mutating func add(age: Duration, bytes count: Int) {
    bytes[Self.ageClass(of: age)] += count
  }

  /// Where to cut so that the oldest go and no more of them than needed.
  func cut(freeing goal: Int) -> EvictionCut {
    var left = goal
    for ageClass in bytes.indices.reversed() where bytes[ageClass] > 0 {
      if bytes[ageClass] >= left { return EvictionCut(oldest: ageClass, allowance: max(0, left)) }
      left -= bytes[ageClass]
    }
    return EvictionCut(oldest: 0, allowance: max(0, left))
  }

  /// Grows with the age; negative ages are none.
  static func ageClass(of age: Duration) -> Int {
    let seconds = UInt64(max(0, age.components.seconds)) + UInt64(classesPerOctave)
    let octave = 63 - seconds.leadingZeroBitCount
    let quarter = Int(seconds >> UInt64(octave - 2)) & (classesPerOctave - 1)
    return octave * classesPerOctave + quarter
  }
}

/// Which rows are old enough to go: all that are older than a class of ages, and of that class as
/// many as are still needed.
struct EvictionCut: Equatable {
  /// The youngest class that loses rows.
  let oldest: Int
  /// Bytes that this class has yet to lose.
  private(set) var allowance: Int

  func takes(age: Duration) -> Bool {
    let ageClass = EvictionAges.ageClass(of: age)
    return ageClass > oldest || (ageClass == oldest && allowance > 0)
  }

  mutating func note(age: Duration, bytes: Int) {
    if EvictionAges.ageClass(of: age) == oldest { allowance -= bytes }
  }
}
