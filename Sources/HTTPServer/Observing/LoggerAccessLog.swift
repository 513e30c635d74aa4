package import Logging
import Transport

/// The access log as lines of a logger: a constant message, the rest as metadata.
package struct LoggerAccessLog: AccessLog {
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  package func record(_ entry: AccessLogEntry) {
    logger.info(
      "request",
      metadata: [
        "method": "\(entry.method)", "target": "\(entry.target)", "status": "\(entry.status)",
        "bytes": "\(entry.bytes)", "duration": "\(entry.duration)",
        "request_id": "\(entry.requestID)", "remote": "\(entry.remoteAddress.host)",
      ])
  }
}
