import Foundation
import LosslessJSON
import Model
import Storage
import Testing

/// Needs a file system of a few MiB, named by LARDER_TEST_SMALL_DISK:
/// `mount -t tmpfs -o size=3m tmpfs /mnt/small`.
struct FullDiskTests {
  private static let disk = ProcessInfo.processInfo.environment["LARDER_TEST_SMALL_DISK"]

  @Test("On a full disk writes fail as a whole and reads work", .enabled(if: disk != nil))
  func writesFailWholeAndReadsGoOn() async throws {
    let disk = try #require(Self.disk)
    let folder = TemporaryFolder(in: disk)
    let fixture = try StoreFixture(folder)
    let text = String(repeating: "x", count: 40_000)
    func response(_ call: Int64) -> NormalisedResponse {
      ResponseBuilder(call: call).film("\(call)", ["title": .string(text)])
        .entity(.person("\(call)"), ["id": "x"]).build()
    }
    var stored: Int64 = 0
    var refusal: StorageError?
    while refusal == nil, stored < 1000 {
      do throws(StorageError) {
        _ = try await fixture.store.apply(response(stored + 1))
        stored += 1
      } catch {
        refusal = error
      }
    }
    #expect(refusal == .full)
    #expect(fixture.store.fullCount > 0)
    #expect(stored > 0)
    #expect(fixture.store.head == Revision(stored))
    #expect(try await fixture.title(of: "\(stored)") == text)
    #expect(try await fixture.title(of: "\(stored + 1)") == nil)
    let tables = try await fixture.store.statistics().tables
    #expect(tables.map(\.entities) == [Int(stored), Int(stored)])
    fixture.store.close()
    let revived = try? StoreFixture(folder, segment: 2)
    if let revived {
      #expect(revived.store.head == Revision(stored))
      revived.store.close()
    }
  }
}
