/// Takes a note of every request.
///
/// A note is bytes, appended to what its loop gathers, and each loop hands over what it has a few
/// times a second: on the way of a hit there is no text value, no lock and no system call.
package protocol AccessLog: Sendable {
  /// Whether notes are wanted now. Asked for each request, on the loop.
  var isOn: Bool { get }

  /// Appends the note of one request. Called on the loop.
  func append(_ entry: borrowing AccessLogEntry, to notes: inout [UInt8])

  /// Takes over whole notes of one loop. Called on the loop: it must not block.
  func take(_ notes: [UInt8])

  /// Returns once everything taken has been written, or after a second. Called at the server's end.
  func finish() async
}
