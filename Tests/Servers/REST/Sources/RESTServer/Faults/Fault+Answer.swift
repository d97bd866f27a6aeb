import Foundation

extension Fault {
    /// What the fault answers in place of the space; nil where the space is asked or nothing is answered.
    var answer: Answer? {
        switch kind {
        case .status: statusAnswer
        case .html: Answer(status: 200, type: "text/html; charset=utf-8", body: Data(Self.page.utf8))
        case .empty: Answer(status: 200)
        case .malformed: Answer(status: 200, type: "application/json", body: Self.noJSON)
        case .dropBefore, .dropAfter, .cut, .stall: nil
        }
    }

    /// The status of the fault, with its body or a message.
    private var statusAnswer: Answer {
        var answer = Answer(status: status, json: ["message": "the service has a fault"])
        if let body {
            let isJSON = body.hasPrefix("{") || body.hasPrefix("[")
            answer = Answer(status: status, type: isJSON ? "application/json" : "text/plain", body: Data(body.utf8))
        }
        answer.headers["Retry-After"] = retryAfter
        return answer
    }

    /// What a network that wants a login shows.
    private static let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>\n"

    /// Begins like a list of rows; 0xFF is in no UTF-8.
    private static let noJSON = Data(#"[{"id": 1, "title": ""#.utf8) + Data([0xFF, 0xFE, 0x00])
}
