import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// The commands of the real binary, beside a service that runs and without one.
  struct CommandLineTests {
    private static let nowhere = RefusedStartTests.nowhere

    private static func json(_ text: String) throws -> JSONValue {
      try JSONValue(parsing: Array(text.utf8))
    }

    /// The options of a command against a service on the port that the kernel assigned.
    private static func url(_ larder: LarderProcess) -> String {
      "http://127.0.0.1:\(larder.port)"
    }

    @Test("Health says that the service is alive, or where nothing responded and what to do")
    func healthSaysWhy() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      let alive = try await LarderProcess.run("health", "--url", Self.url(larder), in: folder)
      #expect(alive.status == 0, "\(alive)")
      #expect(alive.output == "The service at \(Self.url(larder)) is alive.\n")
      #expect(try await larder.terminate() == 0)
      let gone = try await LarderProcess.run("health", "--url", Self.url(larder), in: folder)
      #expect(gone.status == 1)
      #expect(gone.errors.contains(Self.url(larder)), "\(gone)")
      #expect(gone.errors.contains("refused"), "\(gone)")
      #expect(gone.errors.contains("larder serve"), "\(gone)")
    }

    @Test("A backup of the running service is restored after it stopped, and not before")
    func backsUpAndRestores() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere, settings: "start: {lockWait: 0s}")
      let first = try await LarderProcess.serve(folder)
      let port = first.port
      let token = try await onOwnThread {
        try RawClient(port: port).request(
          "POST", "/v1/devices", headers: [("Content-Type", "application/json")],
          body: #"{"platform":"ios"}"#)
      }
      let device = try #require(try Self.json(token.text)["deviceToken"]?.string)
      let backup = "\(folder.path)/backup.sqlite"
      let made = try await LarderProcess.run("backup", "--to", backup, in: folder)
      #expect(made.status == 0 && made.output == "\(backup)\n", "\(made)")
      #expect(made.errors.isEmpty, "progress is for terminals: \(made.errors)")

      let held = try await LarderProcess.run("restore", backup, "--force", in: folder)
      #expect(held.status == 73, "\(held)")
      #expect(held.errors.contains("in use"), "\(held)")
      _ = try await onOwnThread {
        try RawClient(port: port).request(
          "DELETE", "/v1/devices/me", headers: [("Device-Token", device)])
      }
      #expect(try await first.terminate() == 0)

      let refused = try await LarderProcess.run("restore", backup, in: folder)
      #expect(refused.status == 73, "\(refused)")
      #expect(refused.errors.contains("--force"), "\(refused)")
      let restored = try await LarderProcess.run("restore", backup, "--force", in: folder)
      #expect(restored.status == 0, "\(restored)")
      #expect(restored.output.contains("Restored \(backup)"), "\(restored)")
      #expect(restored.output.contains("\(folder.dataPath)/replaced-"), "\(restored)")

      // The device that was removed after the backup is there again.
      let second = try await LarderProcess.serve(folder)
      let secondPort = second.port
      let shown = try await onOwnThread {
        try RawClient(port: secondPort).request(
          "GET", "/v1/devices/me", headers: [("Device-Token", device)])
      }
      #expect(shown.status == 200, "\(shown.text)")
      #expect(try await second.terminate() == 0)
    }

    @Test("A backup that needs another key is not restored")
    func refusesAnotherKey() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      #expect(try await larder.terminate() == 0)
      let backup = "\(folder.path)/backup.sqlite"
      #expect(try await LarderProcess.run("backup", "--to", backup, in: folder).status == 0)
      let other = try ServiceFolder(upstream: Self.nowhere)
      let without = try await LarderProcess.run("restore", backup, in: other)
      #expect(without.status == 78, "\(without)")
      #expect(without.errors.contains("\(other.dataPath)/larder.key"), "\(without)")
      try FileManager.default.copyItem(
        atPath: "\(folder.dataPath)/larder.key", toPath: "\(other.dataPath)/larder.key")
      let restored = try await LarderProcess.run("restore", backup, in: other)
      #expect(restored.status == 0, "\(restored)")
      let started = try await LarderProcess.serve(other)
      #expect(try await started.terminate() == 0)
    }

    @Test("A purge, and the removal of a device, act through the running service")
    func operatesTheService() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let larder = try await LarderProcess.serve(folder)
      let url = Self.url(larder)
      let purged = try await LarderProcess.run("purge", "--type", "Film", "--url", url, in: folder)
      #expect(purged.status == 0, "\(purged)")
      #expect(purged.output.hasPrefix("Purged: type Film. "), "\(purged)")
      let report = try await LarderProcess.run(
        "purge", "--tag", "films", "--json", "--url", url, in: folder)
      #expect(try Self.json(report.output) == ["purged": 0])
      let unknown = try await LarderProcess.run(
        "purge", "--type", "Nope", "--url", url, in: folder)
      #expect(unknown.status == 64 && unknown.errors.contains("Nope"), "\(unknown)")
      let misspelt = try await LarderProcess.run(
        "purge", "--operation", "Flim", "--operation", "Films", "--tag", "filns", "--url", url,
        in: folder)
      #expect(misspelt.status == 64 && misspelt.output.isEmpty, "\(misspelt)")
      for part in [
        "no operation Flim", "Did you mean \"Film\"", "tag filns", "\"films\"", "Everything else",
      ] {
        #expect(misspelt.errors.contains(part), "\(misspelt)")
      }
      let asJSON = try await LarderProcess.run(
        "purge", "--tag", "filns", "--json", "--url", url, in: folder)
      #expect(asJSON.status == 64 && asJSON.errors.contains("Nothing was purged"), "\(asJSON)")
      #expect(try Self.json(asJSON.output)["unknown"]?.array?.count == 1)
      let nothing = try await LarderProcess.run("purge", "--url", url, in: folder)
      #expect(nothing.status == 64, "\(nothing)")
      let device = try await LarderProcess.run(
        "devices", "revoke", "d_unknown", "--url", url, in: folder)
      #expect(device.status == 1 && device.errors.contains("404"), "\(device)")
      let stranger = try await LarderProcess.run(
        "purge", "--type", "Film", "--url", url, "--set",
        "admin.token=\(String(repeating: "b", count: 40))", in: folder)
      #expect(stranger.status == 77, "\(stranger)")
      #expect(stranger.errors.contains(url) && stranger.errors.contains("admin.token"))
      #expect(try await larder.terminate() == 0)
      let gone = try await LarderProcess.run("purge", "--type", "Film", "--url", url, in: folder)
      #expect(gone.status == 69 && gone.errors.contains(url), "\(gone)")
    }

    @Test("Reports for programs are JSON, of faults too")
    func reportsAreJSON() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let check = try await LarderProcess.run("check", "--json", in: folder)
      #expect(check.status == 0)
      #expect(try Self.json(check.output)["valid"] == true)
      let routes = try await LarderProcess.run("routes", "--json", in: folder)
      let lines = try #require(try Self.json(routes.output)["routes"]?.array)
      #expect(lines.first?["path"]?.string?.hasPrefix("/api/") == true, "@route paths come first")
      #expect(lines.contains { $0["path"] == "/healthz" && $0["operation"] == .null })
      let settings = try await LarderProcess.run("settings", "--json", in: folder)
      #expect(!settings.output.contains(ServiceFolder.adminToken))
      #expect(try Self.json(settings.output)["items"]?.array?.isEmpty == false)
      let doctor = try await LarderProcess.run("doctor", "--json", in: folder)
      #expect(doctor.status == 1, "upstream is not there")
      #expect(try Self.json(doctor.output)["findings"]?[0]?["verdict"] == "fault")
      try folder.write("listn: :1", to: "larder.yaml")
      let faulty = try await LarderProcess.run("check", "--json", in: folder)
      #expect(faulty.status == 78)
      #expect(try Self.json(faulty.output)["faults"]?[0]?["line"] == 1)
    }

    @Test("Mistyped commands and options are refused with what was meant")
    func suggests() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let command = try await LarderProcess.run("serv", in: folder)
      #expect(command.status == 64)
      #expect(command.errors.contains("Did you mean 'serve'?"), "\(command)")
      let option = try await LarderProcess.run("serve", "--demo-prot", "1", in: folder)
      #expect(option.status == 64)
      #expect(option.errors.contains("Did you mean '--demo-port'?"), "\(option)")
    }

    @Test("Without a terminal no output has an escape sequence")
    func plainOutput() async throws {
      let folder = try ServiceFolder(upstream: Self.nowhere)
      let doctor = try await LarderProcess.run("doctor", in: folder)
      #expect(!doctor.output.contains("\u{1B}"))
      #expect(doctor.output.hasPrefix("FAULT\t"), "\(doctor.output)")
    }
  }
}
