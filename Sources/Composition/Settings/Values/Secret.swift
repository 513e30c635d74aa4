/// Text that must not reach a log, a fault, a dump or an answer: however it is printed, it shows
/// as asterisks. Whoever needs the text asks for ``revealed`` by name.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// What stands for any secret; its length tells nothing.
  package static let mask = "********"

  package let revealed: String

  package init(_ text: String) {
    revealed = text
  }

  package var description: String { Self.mask }
  package var debugDescription: String { Self.mask }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
