import Foundation
import GRDB
import TestSupport
import Testing

extension Crashes {
  /// Faults that keep the service from starting end the process with the matching exit code (sysexits.h) and
  /// a message.
  struct RefusedStartTests {
    /// Never called: these services do not get that far.
    static let nowhere = "http://127.0.0.1:9/graphql"

    @Test("A second process on the same data folder ends with 73")
    func secondProcessOnTheFolderEnds73() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere, settings: "start: {lockWait: 0s}")
      let first = try await LarderProcess.serve(folder)
      let second = try await LarderProcess.run("serve", in: folder)
      #expect(second.status == 73)
      #expect(!second.errors.contains("waiting"))
      #expect(second.errors.contains("\(folder.dataPath) is in use by another process"))
      #expect(first.isRunning)
      // The first process is unaffected, and releases the folder at its end.
      let port = first.port
      #expect(
        try await onOwnThread { try RawClient(port: port).request("GET", "/readyz") }.status == 200)
      #expect(try await first.terminate() == 0)
      let third = try await LarderProcess.serve(folder)
      #expect(try await third.terminate() == 0)
    }

    @Test("An address in use ends the start with 69")
    func addressInUseEnds69() async throws {
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

    @Test("Algorithms that OpenSSL's configuration leaves out end the start with 72, by name")
    func missingAlgorithmsEnd72() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write(
        """
        openssl_conf = all
        [all]
        alg_section = algorithms
        [algorithms]
        default_properties = fips=yes
        """, to: "openssl.cnf")
      let larder = try LarderProcess.spawnService(
        folder, under: ["OPENSSL_CONF=\(folder.path)/openssl.cnf"])
      #expect(try await larder.status() == 72)
      for name in ["SHA2-256", "MD5", "AES-256-GCM", "HMAC", "HKDF", "SCRYPT", "RSA", "ECDSA"] {
        #expect(larder.errors.contains(name), "\(name) is not in \(larder.errors)")
      }
      #expect(larder.errors.contains("OPENSSL_CONF"))
      #expect(!FileManager.default.fileExists(atPath: folder.dataPath))
    }

    @Test("The doctor names algorithms that OpenSSL's configuration leaves out, beside all else")
    func doctorNamesMissingAlgorithms() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      #expect(try await larder.terminate() == 0)
      try folder.write(
        "openssl_conf = all\n[all]\nalg_section = algorithms\n[algorithms]\n"
          + "default_properties = fips=yes\n", to: "openssl.cnf")
      let end = try await LarderProcess.run(
        "doctor", under: ["OPENSSL_CONF=\(folder.path)/openssl.cnf"], in: folder)
      #expect(end.status == 1, "\(end)")
      #expect(end.output.contains("FAULT\topenssl: "), "\(end)")
      #expect(end.output.contains("upstream: "), "\(end)")
    }

    @Test("Faulty settings end the start with 78 and list every fault")
    func faultySettingsEnd78WithEveryFault() async throws {
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

    @Test("Settings that are not YAML end the start with 78 and that fault alone")
    func invalidYAMLEnds78() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write("listen: [\n  a: b\n", to: "larder.yaml")
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 78)
      #expect(
        end.errors.contains("larder.yaml:1:9: not YAML: in the list that begins here"),
        "\(end.errors)")
      #expect(!end.errors.contains("upstream.url"), "what could not be read is told as missing")
    }

    @Test("Faulty operations end the start with 65 and list every fault")
    func faultyOperationsEnd65WithEveryFault() async throws {
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

    @Test("A database of a newer version ends the start with 73")
    func newerDatabaseEnds73() async throws {
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

    @Test("A damaged database ends the start with 73")
    func damagedDatabaseEnds73() async throws {
      let folder = try await usedFolder()
      let file = try FileHandle(forWritingTo: URL(filePath: folder.databasePath))
      try file.write(contentsOf: Data(repeating: 0x55, count: 16_384))
      try file.close()
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 73)
      #expect(end.errors.contains("damaged"), "\(end.errors)")
    }

    @Test("A data folder that is a file ends the start with 73")
    func dataFolderThatIsAFileEnds73() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      try folder.write("not a folder", to: "data")
      let end = try await LarderProcess.run("serve", in: folder)
      #expect(end.status == 73)
      #expect(end.errors.contains(folder.dataPath), "\(end.errors)")
    }

    /// A folder with a database that no process holds.
    private func usedFolder() async throws -> ServiceFolder {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      #expect(try await larder.terminate() == 0)
      return folder
    }
  }
}
