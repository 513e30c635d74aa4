import Foundation
import GRDB
import TestSupport
import Testing

extension Crashes {
  /// What keeps the service from starting ends the process with the exit code for it (sysexits.h)
  /// and words for whoever started it.
  struct RefusedStartTests {
    /// Never asked: these services do not get that far.
    static let nowhere = "http://127.0.0.1:9/graphql"

    @Test func aSecondProcessOnTheFolderEnds73() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere, settings: "start: {lockWait: 0s}")
      let first = try await LarderProcess.serve(folder)
      let second = try await LarderProcess.run("serve", in: folder)
      #expect(second.status == 73)
      #expect(!second.errors.contains("waiting"))
      #expect(second.errors.contains("\(folder.dataPath) is in use by another process"))
      #expect(first.isRunning)
      // The first goes on as if nothing had been, and the folder is free after it.
      let port = first.port
      #expect(
        try await onOwnThread { try RawClient(port: port).request("GET", "/readyz") }.status == 200)
      #expect(try await first.terminate() == 0)
      let third = try await LarderProcess.serve(folder)
      #expect(try await third.terminate() == 0)
    }

    @Test func anAddressInUseEnds69() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let first = try await LarderProcess.serve(folder)
      let address = "127.0.0.1:\(first.port)"
      let other = try ServiceFolder(upstream: Self.nowhere, listen: address)
      let second = try await LarderProcess.run("serve", in: other)
      #expect(second.status == 69)
      #expect(second.errors.contains(address))
      #expect(!second.errors.contains("addressInUse("), "\(second.errors) is no sentence")
      #expect(try await first.terminate() == 0)
    }

    @Test func faultySettingsEnd78WithEveryFault() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write(
        """
        listn: 127.0.0.1:0
        data: ./data
        operations: ./operations
        schema: ./schema.graphql
        upstream:
          url: notaurl
          timeout: soon
        cache:
          maxAge: -5s
        """, to: "larder.yaml")
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 78)
      for place in [
        "larder.yaml:1:1: ", "larder.yaml:6:8: ", "larder.yaml:7:12: ", "larder.yaml:9:11: ",
      ] {
        #expect(end.errors.contains(place), "\(place) is not in \(end.errors)")
      }
      #expect(end.errors.contains("did you mean `listen`?"))
      #expect(!FileManager.default.fileExists(atPath: folder.dataPath))
    }

    @Test func settingsThatAreNoYAMLEnd78WithThatFaultAlone() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write("listen: [\n  a: b\n", to: "larder.yaml")
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 78)
      #expect(end.errors.contains("larder.yaml:3:1: not YAML"), "\(end.errors)")
      #expect(!end.errors.contains("upstream.url"), "what could not be read is told as missing")
    }

    @Test func faultyOperationsEnd65WithEveryFault() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write(
        """
        query Film($id: ID!) @route(path: "/films/{ident}") {
          film(id: $id) { id titel }
        }
        query Film { serverTime }
        """, to: "operations/film.graphql")
      try folder.write("{ serverTime }\n", to: "operations/nameless.graphql")
      for command in ["serve", "check"] {
        let end = try await LarderProcess.run(
          command, "--set", "operations=\(folder.path)/operations", in: folder)
        #expect(end.status == 65)
        for place in [
          "film.graphql:1:7: ", "film.graphql:1:35: ", "film.graphql:2:22: ",
          "nameless.graphql:1:1: ",
        ] {
          #expect(end.errors.contains(place), "\(command): \(place) is not in \(end.errors)")
        }
        let caret = "2 |   film(id: $id) { id titel }\n  |                      ^\n"
        #expect(end.errors.contains(caret), "\(end.errors)")
      }
    }

    @Test func aDatabaseOfANewerVersionEnds73() async throws {
      let folder = try await usedFolder()
      let queue = try DatabaseQueue(path: folder.databasePath)
      try await queue.write {
        try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9999 from the future')")
      }
      try queue.close()
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 73)
      #expect(end.errors.contains("newer version of Larder"), "\(end.errors)")
      #expect(try StoredFiles(of: folder).faults() == [])
    }

    @Test func aDamagedDatabaseEnds73() async throws {
      let folder = try await usedFolder()
      let file = try FileHandle(forWritingTo: URL(filePath: folder.databasePath))
      try file.write(contentsOf: Data(repeating: 0x55, count: 16_384))
      try file.close()
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 73)
      #expect(end.errors.contains("damaged"), "\(end.errors)")
    }

    @Test func aDataFolderThatIsAFileEnds73() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write("not a folder", to: "data")
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 73)
      #expect(end.errors.contains(folder.dataPath), "\(end.errors)")
    }

    /// A folder with a database in it that nobody holds.
    private func usedFolder() async throws -> ServiceFolder {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      #expect(try await larder.terminate() == 0)
      return folder
    }
  }
}
