import Foundation
import Glibc
import TestSupport
import Testing

extension Crashes {
  /// A process ends when it is told to, whether or not its output is read.
  struct BlockedLogTests {
    private static func service(level: String) throws -> ServiceFolder {
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, settings: "drain: {deadline: 2s}")
      let text = try String(contentsOfFile: folder.settingsPath, encoding: .utf8)
      try folder.write(
        text.replacingOccurrences(of: "level: warning", with: "level: \(level)"),
        to: "larder.yaml")
      return folder
    }

    @Test(
      "SIGTERM ends a process whose standard error is not read",
      arguments: ["info", "warning"])
    func endsWithAFullPipe(level: String) async throws {
      let folder = try Self.service(level: level)
      let larder = try LarderProcess.spawnService(folder, readsErrors: false)
      try await larder.becomeReady()
      let port = larder.port
      // More log than memory and the pipe hold: lost lines are counted.
      try await onOwnThread {
        let client = try RawClient(port: port)
        let target = "/healthz?" + String(repeating: "x", count: 4_000)
        for _ in 0..<(level == "info" ? 1_500 : 10) {
          #expect(try client.request("GET", target).status == 200)
        }
      }
      let metrics = try await onOwnThread {
        try RawClient(port: port).request(
          "GET", "/metrics", headers: [("Authorization", "Bearer \(ServiceFolder.adminToken)")]
        ).text
      }
      #expect(metrics.contains("larder_log_dropped_lines_total"))
      let began = ContinuousClock.now
      #expect(try await larder.terminate() == 0)
      #expect(ContinuousClock.now - began < .seconds(6))
      // The data folder has been released.
      let next = try await LarderProcess.serve(folder)
      #expect(try await next.terminate() == 0)
    }

    @Test("Unused signals do not end the service")
    func ignoresUserSignals() async throws {
      let folder = try Self.service(level: "warning")
      let larder = try await LarderProcess.serve(folder)
      for number in [SIGUSR1, SIGUSR2, SIGHUP] { larder.signal(number) }
      let port = larder.port
      for _ in 0..<20 {
        #expect(
          try await onOwnThread { try RawClient(port: port).request("GET", "/healthz") }.status
            == 200)
      }
      #expect(try await larder.terminate() == 0)
    }

    /// Otherwise the descriptors that the event loops open get the numbers of the standard streams.
    @Test("A process started without standard streams writes its log into no other descriptor")
    func startsWithoutStreams() async throws {
      let port = try FreePort.find()
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, listen: "127.0.0.1:\(port)")
      let larder = try LarderProcess.spawnService(
        folder, under: ["sh", "-c", #"exec "$@" 0<&- 1>&- 2>&-"#, "sh"])
      let isUp = await Moment.comes(withinSeconds: 20) {
        (try? await onOwnThread { try RawClient(port: port).request("GET", "/healthz") })?.status
          == 200
      }
      #expect(isUp)
      for descriptor in 0...2 {
        let target = try FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/\(larder.processID)/fd/\(descriptor)")
        #expect(target == "/dev/null")
      }
      #expect(try await larder.terminate() == 0)
      #expect(try StoredFiles(of: folder).faults() == [])
    }
  }
}
