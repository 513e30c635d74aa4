/// What a form's content holds, in its order.
package enum FormEvent: Sendable, Hashable {
  case part(FormPart)
  /// A stretch of the content of the part that began last.
  case content([UInt8])
  case partEnd
  /// The closing boundary; what follows it means nothing.
  case end
}
