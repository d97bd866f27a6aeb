/// A request in the log of a space.
struct LogEntry: Sendable {
    /// The method, such as `GET`.
    let method: String
    /// The decoded path without the space.
    let path: String
    /// The query as it was sent; empty for none.
    let query: String
    /// The status; nil if nothing was answered.
    let status: Int?

    /// Creates the entry of a call and its ending.
    init(_ call: Call, _ ending: Ending) {
        method = call.method
        path = call.shownPath
        query = call.query.raw
        switch ending {
        case .answer(let answer), .cut(let answer): status = answer.status
        case .drop, .stall: status = nil
        }
    }

    /// The entry as JSON.
    var document: JSON {
        [
            "method": .string(method), "path": .string(path), "query": .string(query),
            "status": status.map(JSON.integer) ?? .null,
        ]
    }
}
