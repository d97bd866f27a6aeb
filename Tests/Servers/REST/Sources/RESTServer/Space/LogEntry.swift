/// A request that a space had.
struct LogEntry: Sendable {
    /// Such as `GET`.
    let method: String
    /// Decoded, without the space.
    let path: String
    /// As it was sent; empty without one.
    let query: String
    /// Nil if nothing was answered.
    let status: Int?

    /// What is logged of a call that ended so.
    init(_ call: Call, _ ending: Ending) {
        method = call.method
        path = call.shownPath
        query = call.query.raw
        switch ending {
        case .answer(let answer), .cut(let answer): status = answer.status
        case .drop, .stall: status = nil
        }
    }

    /// The entry as tests read it.
    var document: JSON {
        [
            "method": .string(method), "path": .string(path), "query": .string(query),
            "status": status.map(JSON.integer) ?? .null,
        ]
    }
}
