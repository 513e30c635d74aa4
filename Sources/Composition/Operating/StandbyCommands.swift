import FoundationEssentials
import Gateway
import LosslessJSON
import Model
import Standby
import Storage
import Transport

/// The `standby` commands. They read the folder or bucket of the settings, whether a machine runs or not.
package struct StandbyCommands {
  private let settings: Settings

  package init(_ settings: Settings) { self.settings = settings }

  /// Returns what the store has, as text or JSON.
  package func status(isJSON: Bool) async throws -> String {
    let assembly = try StandbyAssembly(settings)
    let report: StandbyReport
    do throws(StandbyError) {
      report = try await StandbyReport(of: assembly.store, folder: settings.dataFolder)
    } catch {
      await assembly.close()
      throw StartFailure(error)
    }
    await assembly.close()
    return isJSON ? report.json.text : report.text
  }

  /// Makes the data folder that of a single machine without a standby.
  package func leave() throws(StartFailure) -> String {
    let folder = settings.dataFolder
    let isMember: Bool
    do throws(StorageError) {
      isMember = try Store.clusterPosition(folder: folder) != nil
      if isMember { try Store.leaveCluster(folder: folder) }
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
    }
    guard isMember else {
      throw StartFailure(.failed, "The data folder \(folder) has no database with a standby.")
    }
    return
      "\(folder) is that of a single machine now. Remove `standby` from its settings, or set another `standby.name` to "
      + "begin a new history with it."
  }
}

extension StartFailure {
  init(_ error: StandbyError) {
    switch error {
    case .unavailable(let reason):
      self.init(.addressInUse, "The standby's store cannot be used: \(reason.onOneLine).")
    case .faulty(let reason):
      self.init(.faultySettings, "The standby's store cannot be used: \(reason.onOneLine).")
    }
  }
}

/// What the store of a standby has.
struct StandbyReport {
  let place: String
  let lease: StandbyLease?
  let index: SnapshotIndex
  let last: LogSegment?
  /// The last commit in this machine's data folder; nil without a database with a standby.
  let own: Int64?
  let now: Timestamp

  init(of store: StandbyStore, folder: String) async throws(StandbyError) {
    place = store.place
    lease = try await store.lease()?.lease
    index = try await store.index().index
    last = try await LogSearch(store).last(after: index.floor)
    own = (try? Store.clusterPosition(folder: folder))??.position
    now = SystemClock.wall.now()
  }

  /// The time since the holder has last renewed the lease, by both clocks.
  private func seconds(since time: Timestamp) -> Int64 { time.elapsed(until: now).wholeSeconds }

  var text: String {
    var lines = ["Standby in \(place)."]
    if let lease {
      let state =
        lease.isReleased
        ? "released by \(lease.host.onOneLine)"
        : "held by \(lease.host.onOneLine) (node \(lease.holder.onOneLine)), renewed "
          + "\(seconds(since: lease.renewed)) s ago"
      lines.append("Lease: \(state); epoch \(lease.epoch), version \(lease.version.onOneLine).")
      if !lease.isReleased {
        lines.append(
          "Oldest commit that was not stored then: "
            + (lease.unsentAge == .zero ? "none." : "\(lease.unsentAge.milliseconds) ms old."))
      }
    } else {
      lines.append("Lease: none yet. The first `larder serve` without --standby begins.")
    }
    if let last {
      let time = last.commits.last.map { ", last commit \($0.at.iso8601)" } ?? ""
      lines.append("Log: up to position \(last.last), segment \(last.number)\(time).")
    } else {
      lines.append("Log: empty.")
    }
    if let latest = index.latest, let first = index.entries.first {
      lines.append(
        "Snapshots: \(index.entries.count), the latest at position \(latest.position) of \(latest.made.iso8601), "
          + "\(latest.byteCount) bytes. Moments since \(first.at.iso8601) can be restored.")
    } else {
      lines.append("Snapshots: none yet.")
    }
    if let own {
      let behind = (last?.last ?? 0) - own
      lines.append(
        "This machine: position \(own)"
          + (behind > 0
            ? ", \(Int(behind).counted("commit")) behind."
            : behind < 0 ? ", \(Int(-behind).counted("commit")) not stored." : ", like the log."))
    }
    return lines.joined(separator: "\n")
  }

  var json: JSONValue {
    var members = [JSONMember("store", .string(place))]
    if let lease {
      members.append(
        JSONMember(
          "lease",
          .object([
            JSONMember("epoch", .number(JSONNumber(lease.epoch))),
            JSONMember("node", .string(lease.holder)), JSONMember("host", .string(lease.host)),
            JSONMember("version", .string(lease.version)),
            JSONMember("released", .bool(lease.isReleased)),
            JSONMember("renewed", .string(lease.renewed.iso8601)),
            JSONMember(
              "unsentMilliseconds", .number(JSONNumber(lease.unsentAge.milliseconds))),
          ])))
    }
    var log = [
      JSONMember("position", .number(JSONNumber(last?.last ?? 0))),
      JSONMember("segment", .number(JSONNumber(last?.number ?? index.floor))),
      JSONMember("floor", .number(JSONNumber(index.floor))),
    ]
    if let at = last?.commits.last?.at { log.append(JSONMember("lastCommit", .string(at.iso8601))) }
    members.append(JSONMember("log", .object(log)))
    members.append(
      JSONMember(
        "snapshots",
        .array(
          index.entries.map { entry in
            .object([
              JSONMember("position", .number(JSONNumber(entry.position))),
              JSONMember("at", .string(entry.at.iso8601)),
              JSONMember("made", .string(entry.made.iso8601)),
              JSONMember("bytes", .number(JSONNumber(entry.byteCount))),
              JSONMember("version", .string(entry.version)),
            ])
          })))
    if let own {
      members.append(
        JSONMember("folder", .object([JSONMember("position", .number(JSONNumber(own)))])))
    }
    return .object(members)
  }
}
