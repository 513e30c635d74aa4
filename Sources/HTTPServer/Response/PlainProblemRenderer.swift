import HTTPWire

/// Problem details as RFC 9457 has them, written without a JSON library: all parts are known to
/// need no escapes.
package struct PlainProblemRenderer: ProblemRenderer {
  package init() {}

  package func render(_ problem: ServerProblem, requestID: String) -> [UInt8] {
    var output: [UInt8] = []
    output.append("{\"type\":\"about:blank\",\"title\":\"")
    output.append(StatusLine.reason(problem.status))
    output.append("\",\"status\":")
    output.append(decimal: problem.status)
    output.append(",\"detail\":\"")
    output.append(problem.detail)
    output.append("\",\"code\":\"")
    output.append(problem.code)
    output.append("\",\"retry\":\"")
    output.append(problem.retry)
    output.append("\",\"requestId\":\"")
    output.append(contentsOf: requestID.utf8)
    output.append("\"}")
    return output
  }
}
