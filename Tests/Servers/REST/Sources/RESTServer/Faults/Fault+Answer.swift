import Foundation

extension Fault {
    /// The answer of the fault instead of that of the space; nil if the space answers or nothing is answered.
    var answer: Answer? {
        switch kind {
        case .status: statusAnswer
        case .html: Answer(status: 200, type: "text/html; charset=utf-8", body: Data(Self.page.utf8))
        case .empty: Answer(status: 200)
        case .malformed: Answer(status: 200, type: "application/json", body: Self.noJSON)
        case .dropBefore, .dropAfter, .cut, .stall: nil
        }
    }

    /// The answer with the status and the body or a message.
    private var statusAnswer: Answer {
        var answer = Answer(status: status, json: ["message": "the service has a fault"])
        if let body {
            let isJSON = body.hasPrefix("{") || body.hasPrefix("[")
            answer = Answer(status: status, type: isJSON ? "application/json" : "text/plain", body: Data(body.utf8))
        }
        answer.headers["Retry-After"] = retryAfter
        return answer
    }

    /// The login page of a network.
    private static let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>\n"

    /// The beginning of a list of rows, and 0xFF, which is invalid in UTF-8.
    private static let noJSON = Data(#"[{"id": 1, "title": ""#.utf8) + Data([0xFF, 0xFE, 0x00])
}
