import Model

/// The part of a ``NormalisationPlan`` that is read for every member of a response: plain numbers
/// and names behind pointers, valid for one walk, so that no look-up touches a reference count.
struct PlanTables {
  /// A text in the name table.
  struct Name {
    let start: Int32
    let count: Int32
  }

  struct Field {
    /// `"title"`
    let responseName: Name
    /// `"title({\"lang\":\"en\"})"`
    let storedName: Name
    /// Index of the position inside; -1 for a leaf.
    let inner: Int32
    let listDepth: UInt8
    /// The index of the key part; -1 for none.
    let keyPart: Int8
    let leafKind: SelectedField.LeafKind
    /// One bit per list level, the outermost first; levels past the sixteenth count as nullable.
    let nonNullLevels: UInt16
    let isTypename: Bool
    let isAdded: Bool
    /// Whether null at level 0 makes its object null.
    let isNonNull: Bool
    /// Whether it is a page of a list or a look-up by key.
    let isSpecial: Bool
  }

  struct Object {
    let firstField: Int32
    let endField: Int32
    let keyPartCount: Int32
    /// Whether the key is one field whose text is the key.
    let hasTextKey: Bool
    /// `"Film"`: the name that the type is stored under.
    let storedType: Name
    /// The type's name in responses.
    let typename: Name
    /// Whether two response names stand for one stored field.
    let hasRepeatedNames: Bool

    var fields: Range<Int> { Int(firstField)..<Int(endField) }
  }

  struct Position {
    let firstObject: Int32
    let endObject: Int32
    /// `"larder_typename"`; empty if the type is an object type.
    let typename: Name

    var objects: Range<Int> { Int(firstObject)..<Int(endObject) }
  }

  let names: UnsafeBufferPointer<UInt8>
  let fields: UnsafeBufferPointer<Field>
  let objects: UnsafeBufferPointer<Object>
  let positions: UnsafeBufferPointer<Position>

  @inline(__always)
  func text(_ name: Name) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      rebasing: names[Int(name.start)..<Int(name.start) + Int(name.count)])
  }

  /// Whether a range of the scanned text is exactly this name, quotes included.
  @inline(__always)
  func isName(_ name: Name, at range: Range<Int>, of scanner: TextScanner) -> Bool {
    guard Int(name.count) == range.count else { return false }
    let start = Int(name.start)
    for index in 0..<range.count
    where names[start + index] != scanner.text[range.lowerBound + index] {
      return false
    }
    return true
  }

  /// The field of a response name, tried first at the expected index.
  @inline(__always)
  func field(
    _ name: Range<Int>, of object: Int, expected: inout Int, scanner: TextScanner
  ) -> Int? {
    let range = objects[object].fields
    if expected < range.upperBound,
      isName(fields[expected].responseName, at: name, of: scanner)
    {
      expected += 1
      return expected - 1
    }
    for index in range where isName(fields[index].responseName, at: name, of: scanner) {
      expected = index + 1
      return index
    }
    return nil
  }

  /// The object type of a position that a response names at a range of its text, quotes included.
  func object(named range: Range<Int>, at position: Int, of scanner: TextScanner) -> Int? {
    for index in positions[position].objects
    where isName(objects[index].typename, at: range, of: scanner) {
      return index
    }
    return nil
  }

  /// The object type of a position that stored text names at a range, quotes included.
  func object(stored range: Range<Int>, at position: Int, of scanner: TextScanner) -> Int? {
    for index in positions[position].objects
    where isName(objects[index].storedType, at: range, of: scanner) {
      return index
    }
    return nil
  }
}
