import SyncCore

/// What Parse says went wrong: a number and a text.
struct ParseError {
    static let invalidSession = 209
    static let wrongType = 111

    /// What to do about it.
    enum Meaning {
        /// It failed; whether it was done is not known.
        case failed
        /// It was not done, and may be later.
        case busy
        /// There is no such object, or the user may not see it.
        case gone
        /// There is one already.
        case duplicate
        /// The same request came before: something was done, or is being done.
        case repeated
        /// The user has to log in again.
        case login
        /// It will never be done.
        case refused
    }

    let code: Int
    let text: String

    /// Nil for JSON that is none of Parse's errors.
    init?(_ json: JSONValue) {
        guard case .number(let number)? = json["code"], let code = Int(number) else { return nil }
        self.code = code
        if case .string(let text)? = json["error"] { self.text = text } else { text = "" }
    }

    init?(_ answer: HTTPExchange.Answer) {
        guard answer.status >= 400, let json = try? answer.json() else { return nil }
        self.init(json)
    }

    var meaning: Meaning {
        switch code {
        // Internal error; time-out.
        case 1, 124: .failed
        // Service unavailable; connection failed; too many requests.
        case 2, 100, 155: .busy
        case 101: .gone
        case 137: .duplicate
        case 159: .repeated
        case Self.invalidSession: .login
        // 111 wrong type, 119 not allowed, 142 a validation of the app's, and all others.
        default: .refused
        }
    }

    var reason: String { "error \(code): \(text)" }

    /// Of a request that asks.
    var failure: ServiceFailure? {
        switch meaning {
        case .failed: .unreachable(reason)
        case .busy: .busy(after: nil, reason)
        case .login: .unauthorized(reason)
        case .gone, .duplicate, .repeated, .refused: nil
        }
    }
}
