import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// A store that cannot be written: reads continue, writes are refused before they have an effect, and when
  /// it is writable again no restart is needed.
  struct StorageTroubleTests {
    @Test(
      "Reads continue while the database is read-only",
      .enabled(
        if: ImmutableFiles.isPermitted,
        "chattr +i is not permitted here, or the file system does not know it"))
    func readsContinueOnAReadOnlyDatabase() async throws {
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
      "A data folder that cannot be written ends the start with 73",
      .enabled(
        if: ImmutableFiles.isPermitted,
        "chattr +i is not permitted here, or the file system does not know it"))
    func unwritableFolderEnds73() async throws {
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

    @Test(
      "Reads continue while the disk is full",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func readsContinueOnAFullDisk() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(data: "\(disk.path)/data")
      try await site.get("/api/films/f1")
      try await site.update("f1", title: "before")
      try disk.fill()
      // The log can have room left; the first response that is not stored has used it up.
      let full = try await site.firstNotStored(among: 10..<400)

      try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f\(full + 1)")
      #expect(try StoredFiles(of: site.folder).faults() == [])

      try disk.free()
      try await site.expectEverything()
      await site.larder.kill()
      #expect(try StoredFiles(of: site.folder).faults() == [])
      await site.demo.stop()
    }

    @Test(
      "On a nearly full disk a change shows in the next read or is refused",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func changeOnANearlyFullDiskShowsOrIsRefused() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(data: "\(disk.path)/data")
      try await site.get("/api/films/f1")
      try disk.fill()
      // Larger than the page that the store's health check writes.
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
      "A start on a full disk serves reads, and accepts writes once there is room",
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
        // No page is left for the start; it checkpoints the log, which frees room again.
        try disk.fill()
        try await site.startAgain()
        try disk.fill()
        let shown = try await site.get("/api/films/f1")
        #expect(shown.text.contains("\"title\":\"before\""), "round \(round)")
        let full = try await site.firstNotStored(among: films)
        films = full + 2..<400
        // Less than a film can still fit, also into room that the log already occupies.
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
      "A start on a read-only file system serves reads, and restarts once it is writable",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func aReadOnlyDiskDoesNotEndTheStart() async throws {
      let disk = try SmallDisk()
      let port = try FreePort.find()
      let site = try await TroubledSite(
        data: "\(disk.path)/data", listen: "127.0.0.1:\(port)")
      try await site.get("/api/films/f1")
      try await site.update("f1", title: "before")
      // The commits are in the write-ahead log only.
      await site.larder.kill()
      try disk.remount("ro")
      try await site.startAgain()
      let shown = try await site.get("/api/films/f1")
      #expect(shown.text.contains("\"title\":\"before\""), "\(shown.text)")
      try await site.expectReadsOnly(stored: "/api/films/f1", fresh: "/api/films/f2")
      // A SIGTERM in this state drains as usual.
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
      "Without a database or with start.degraded: refuse, a read-only disk ends the start",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func readOnlyDiskCanEndTheStart() async throws {
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
      "With start.degraded: refuse a full disk ends the start with advice",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func fullDiskEndsTheStartIfSettingsSaySo() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(
        data: "\(disk.path)/data", settings: "start: {degraded: refuse}")
      let good = try await site.get("/api/films/f1")
      try disk.fill()
      await site.larder.kill()
      let end = try await LarderProcess.run("serve", in: site.folder)
      #expect(end.status == 73)
      #expect(
        end.errors.contains("full") && end.errors.contains("Free a few hundred"), "\(end.errors)")
      try disk.free()
      try await site.demo.change { $0.fail = .refuse }
      try await site.startAgain()
      #expect(try await site.get("/api/films/f1").body == good.body)
      try await site.end()
    }
  }
}
