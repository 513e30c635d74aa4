/// What became of a notification that was handed over.
package enum NotificationReceipt: Hashable, Sendable {
  case taken
  /// It was taken before, under this id.
  case replayed(id: String)
  /// The key stands for another one.
  case keyReused
  /// As many batches wait as may.
  case outboxFull
}
