/// What the next bytes of a body are.
package enum BodyEvent: Sendable, Equatable {
  /// All bytes have been taken; the body goes on.
  case needMore
  /// A range of the input that is content. It is never empty.
  case content(Range<Int>)
  /// The body is over. What is left of the input belongs to the next message.
  case end
}
