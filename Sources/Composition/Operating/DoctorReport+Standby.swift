import FoundationEssentials
import Model
import Standby
import Storage

/// Findings about a warm standby: what both machines share, and what this one needs.
extension DoctorReport {
  private static let standbyPart = "standby"
  /// A lease that was not renewed for so many times of it has no holder.
  private static let goneFactor: Int64 = 3

  static func standby(_ settings: Settings) async -> [Finding] {
    guard settings.standby.isOn else { return [] }
    var findings: [Finding] = []
    if !Store.canLead {
      findings.append(
        Finding(
          part: standbyPart, verdict: .bad,
          text: "SQLite was built without SQLITE_ENABLE_PREUPDATE_HOOK, which a standby needs",
          cure: "Use the library of Debian or Ubuntu, or the container image."))
    }
    do {
      let assembly = try StandbyAssembly(settings)
      findings += await shared(assembly.store, settings)
      await assembly.close()
    } catch {
      findings.append(Finding(part: standbyPart, verdict: .bad, text: "\(error)"))
    }
    return findings
  }

  private static func shared(_ store: StandbyStore, _ settings: Settings) async -> [Finding] {
    do throws(StandbyError) {
      try await store.probe()
      let report = try await StandbyReport(of: store, folder: settings.dataFolder)
      return [
        Finding(
          part: standbyPart, verdict: .good,
          text: "\(store.place) responds, and decides between writers")
      ] + findings(report, settings)
    } catch {
      return [
        Finding(
          part: standbyPart, verdict: .bad, text: "\(error)",
          cure: "Is it there for this machine, with the right to read, write and remove?")
      ]
    }
  }

  private static func findings(_ report: StandbyReport, _ settings: Settings) -> [Finding] {
    guard let lease = report.lease else {
      return [Finding(part: standbyPart, verdict: .note, text: "no primary has begun yet")]
    }
    var findings: [Finding] = []
    let age = lease.renewed.elapsed(until: report.now)
    if lease.isReleased {
      findings.append(
        Finding(part: standbyPart, verdict: .note, text: "no machine holds the lease"))
    } else if age > lease.duration * goneFactor {
      findings.append(
        Finding(
          part: standbyPart, verdict: .bad,
          text: "\(lease.host) holds the lease and has not renewed it for \(age.wholeSeconds) s",
          cure: "Is no standby running? Start one, or the primary; are both clocks right?"))
    } else {
      let unsent =
        lease.unsentAge == .zero
        ? "all commits stored"
        : "the oldest commit not stored is \(lease.unsentAge.milliseconds) ms old"
      findings.append(
        Finding(
          part: standbyPart, verdict: .good,
          text: "\(lease.host) is the primary (epoch \(lease.epoch)), \(unsent)"))
    }
    if let latest = report.index.latest {
      let old = latest.made.elapsed(until: report.now)
      let isLate =
        old > settings.standby.snapshotInterval * 2 && latest.position < report.last?.last ?? 0
      findings.append(
        Finding(
          part: standbyPart, verdict: isLate ? .note : .good,
          text: "the latest snapshot is of \(latest.made.iso8601)"))
    } else {
      findings.append(
        Finding(
          part: standbyPart, verdict: .bad, text: "there is no snapshot, so nothing can follow",
          cure: "The primary writes one after its start: does its log say why not?"))
    }
    return findings
  }
}
