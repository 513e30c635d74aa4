import Storage
import Testing

struct StorageErrorTests {
  @Test func tellsFoldersApart() {
    #expect(StorageError.inUse(folder: "a") != .inUse(folder: "b"))
  }
}
