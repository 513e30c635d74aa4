import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// A store that cannot be written: reads go on, writes are refused before they do any harm, and
  /// when it can be written again nobody has to restart anything.
  struct StorageTroubleTests {
    @Test(
      .enabled(
        if: ImmutableFiles.isPermitted,
        "chattr +i is not permitted here, or the file system does not know it"))
    func readsGoOnOverAReadOnlyDatabase() async throws {
      let site = try await TroubledSite()
      try await site.get("/api/films/f1")
      try await site.update("f1", title: "before")
      let files = try ImmutableFiles(
        ["", "-wal"].map { site.folder.databasePath + $0 })

      try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f2")
      let shown = try await site.get("/api/films/f1")
      #expect(shown.text.contains("\"title\":\"before\""))
      #expect(try await site.get("/healthz").status == 200)

      files.release()
      try await site.expectEverything()
      try await site.end()
    }

    @Test(
      .enabled(
        if: ImmutableFiles.isPermitted,
        "chattr +i is not permitted here, or the file system does not know it"))
    func aFolderThatCannotBeWrittenEnds73() async throws {
      let folder = try ServiceFolder(upstream: RefusedStartTests.nowhere)
      let first = try await LarderProcess.serve(folder)
      #expect(try await first.terminate() == 0)
      for path in [folder.dataPath, folder.databasePath] {
        let files = try ImmutableFiles([path])
        let end = try await LarderProcess.run("serve", in: folder)
        #expect(end.status == 73)
        #expect(end.errors.contains(folder.dataPath), "\(end.errors)")
        files.release()
      }
      let last = try await LarderProcess.serve(folder)
      #expect(try await last.terminate() == 0)
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func readsGoOnWhileTheDiskIsFull() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(data: "\(disk.path)/data")
      try await site.get("/api/films/f1")
      try await site.update("f1", title: "before")
      try disk.fill()
      // The log may have room left in it; the first answer that is not kept has used it up.
      let full = try await site.firstNotStored(among: 10..<400)

      try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f\(full + 1)")
      #expect(try StoredFiles(of: site.folder).faults() == [])

      try disk.free()
      try await site.expectEverything()
      await site.larder.kill()
      #expect(try StoredFiles(of: site.folder).faults() == [])
      await site.demo.stop()
    }

    /// Whatever room is left: a change that is told as done shows in the next read.
    @Test(.enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aChangeOverANearlyFullDiskShowsOrIsRefused() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(data: "\(disk.path)/data")
      try await site.get("/api/films/f1")
      try disk.fill()
      // Larger than the page that is all a look at the store's health writes.
      let text = String(repeating: "x", count: 30_000)
      for number in 0..<40 {
        let mark = "mark \(number)"
        let executed = site.demo.report["UpdateFilm"].executed
        let change = try await site.update("f1", title: mark, synopsis: text + mark)
        let isDone = site.demo.report["UpdateFilm"].executed > executed
        let read = try await site.get("/api/films/f1")
        #expect((change.status == 200) == isDone, "\(change.text)")
        if isDone {
          let title = try JSONValue(parsing: read.body)["data"]?["film"]?["title"]?.string
          #expect(title == mark, "\(number): \(read.cacheStatus)")
        }
      }
      try disk.free()
      try await site.expectEverything()
      try await site.end()
    }

    @Test(
      "A start on a full disk serves reads, however often, and writes again once there is room",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aFullDiskDoesNotEndTheStart() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(data: "\(disk.path)/data")
      try await site.get("/api/films/f1")
      try await site.update("f1", title: "before")
      try disk.fill()
      var films = 10..<400
      for round in 0..<6 {
        if round.isMultiple(of: 2) {
          await site.larder.kill()
        } else {
          #expect(try await site.larder.terminate() == 0, "\(site.larder.errors)")
        }
        // Not one page is left for the start; it copies the log back, which gives room again.
        try disk.fill()
        try await site.startAgain()
        try disk.fill()
        let shown = try await site.get("/api/films/f1")
        #expect(shown.text.contains("\"title\":\"before\""), "round \(round)")
        let full = try await site.firstNotStored(among: films)
        films = full + 2..<400
        // Less than a film may still fit, also into what the log has had of the disk before.
        try disk.fill()
        for _ in 0..<1_000 where try await site.update("f1", title: "before").status != 200 {
          break
        }
        try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f\(full + 1)")
      }
      try disk.free()
      try await site.expectEverything()
      try await site.end()
    }

    @Test(
      "A start on a read-only file system serves reads, and starts over once it takes writes",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aReadOnlyDiskDoesNotEndTheStart() async throws {
      let disk = try SmallDisk()
      let port = try FreePort.find()
      let site = try await TroubledSite(
        data: "\(disk.path)/data", listen: "127.0.0.1:\(port)")
      try await site.get("/api/films/f1")
      try await site.update("f1", title: "before")
      // What was committed is in the write-ahead log alone.
      await site.larder.kill()
      try disk.remount("ro")
      try await site.startAgain()
      let shown = try await site.get("/api/films/f1")
      #expect(shown.text.contains("\"title\":\"before\""), "\(shown.text)")
      try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f2")
      // Told to end meanwhile, it drains as ever.
      #expect(try await site.larder.terminate() == 0, "\(site.larder.errors)")
      try await site.startAgain()
      try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f2")
      try disk.remount("rw")
      let isBack = await Moment.comes(withinSeconds: 20) {
        (try? await site.get("/readyz"))?.status == 200
      }
      #expect(isBack, "\(site.larder.errors)")
      try await site.expectEverything()
      #expect(site.larder.isRunning)
      try await site.end()
      #expect(try StoredFiles(of: site.folder).faults() == [])
    }

    @Test(
      "A read-only file system without a database, or with start.degraded: refuse, ends the start",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aReadOnlyDiskMayEndTheStart() async throws {
      let disk = try SmallDisk()
      let data = "\(disk.path)/data"
      try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
      try disk.remount("ro")
      for settings in ["", "start: {degraded: refuse}"] {
        let folder = try ServiceFolder(
          upstream: RefusedStartTests.nowhere, data: data, settings: settings)
        let end = try await LarderProcess.run("serve", in: folder)
        #expect(end.status == 73)
        #expect(end.errors.contains(data), "\(end.errors)")
      }
    }

    @Test(
      "With start.degraded: refuse a full disk ends the start, and says what to do",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aStartOnAFullDiskSaysSo() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(
        data: "\(disk.path)/data", settings: "start: {degraded: refuse}")
      let good = try await site.get("/api/films/f1")
      try disk.fill()
      await site.larder.kill()
      let end = try await LarderProcess.run("serve", in: site.folder)
      #expect(end.status == 73)
      #expect(end.errors.contains("full") && end.errors.contains("Free a few hundred"), "\(end.errors)")
      try disk.free()
      try await site.demo.change { $0.fail = .refuse }
      try await site.startAgain()
      #expect(try await site.get("/api/films/f1").body == good.body)
      try await site.end()
    }
  }
}
