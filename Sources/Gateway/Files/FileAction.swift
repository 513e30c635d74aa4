/// What is done to an object.
package enum FileAction: Hashable, Sendable {
  case read
  case write
}
