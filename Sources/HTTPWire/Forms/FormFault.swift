/// Why the content of a form cannot be read.
package enum FormFault: Error, Sendable, Hashable {
  /// It does not begin with the boundary, or something else than a line's end follows one.
  case boundary
  /// The head of a part cannot be read, names no field, or is too long.
  case head
  case tooManyParts
  /// It ended before the closing boundary.
  case incomplete
}
