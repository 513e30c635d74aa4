import TestSupport
import Testing
import Transport

/// Runs `body` with a group of loops that is shut down afterwards.
func withLoops<Result>(
  _ count: Int = 2, _ body: (EventLoopGroup) async throws -> Result
) async throws -> Result {
  let group = try EventLoopGroup(count: count)
  do {
    let result = try await body(group)
    await group.shutdown()
    return result
  } catch {
    await group.shutdown()
    throw error
  }
}

/// Nil when the bytes are equal, else where they part. `#expect(a == b)` would list the differences
/// of megabytes.
func difference(_ found: [UInt8], _ wanted: [UInt8]) -> String? {
  if found == wanted { return nil }
  let index = zip(found, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
  let place = index.map { "at \($0)" } ?? "in length"
  return "differs \(place): \(found.count) bytes, wanted \(wanted.count)"
}

/// Bytes that show when some are lost or swapped: a random block whose length is prime, repeated, so
/// that it never falls in step with a buffer. Cheap also in a debug build.
func pattern(_ count: Int) -> [UInt8] {
  var generator = SeededGenerator(seed: UInt64(count))
  let block = (0..<4093).map { _ in UInt8.random(in: 0...255, using: &generator) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + block.count)
  while bytes.count < count { bytes += block }
  bytes.removeLast(bytes.count - count)
  return bytes
}
