import Foundation
import Logging
import TestSupport
import Testing

@testable import Composition

/// The space reserved for a start on a full disk.
struct DiskReserveTests {
  private static let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

  private static func size(_ folder: String) -> Int? {
    let path = "\(folder)/\(DiskReserve.fileName)"
    return try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
  }

  @Test("The reserve is filled, released with its file kept, and filled again")
  func isTakenAgain() throws {
    let home = try TestFolder("reserve")
    defer { home.remove() }
    let folder = home.path
    let reserve = DiskReserve(folder: folder)
    #expect(!reserve.release(logger: Self.logger))
    reserve.take()
    #expect(Self.size(folder) == 1 << 20)
    #expect(reserve.release(logger: Self.logger))
    #expect(Self.size(folder) == 0)
    #expect(!reserve.release(logger: Self.logger))
    reserve.take()
    #expect(Self.size(folder) == 1 << 20)
    // A missing part is filled again.
    let file = try FileHandle(forWritingTo: URL(filePath: "\(folder)/\(DiskReserve.fileName)"))
    try file.truncate(atOffset: 300_000)
    try file.close()
    reserve.restore()
    #expect(Self.size(folder) == 1 << 20)
  }
}
