extension Space {
    /// Handles a call to a collection or a row.
    func route(_ call: Call) throws(Refusal) -> Answer {
        switch Target(call.path) {
        case .list(let name):
            switch call.method {
            case "GET": return try list(name, call)
            case "POST": return try post(name, call)
            default: throw Refusal(allowing: "GET", "POST")
            }
        case .row(let name, let key):
            switch call.method {
            case "GET": return one(try row(name, key))
            case "PUT": return try put(name, key, call)
            case "PATCH": return try patch(name, key, call)
            case "DELETE": return try delete(name, key, call)
            default: throw Refusal(allowing: "GET", "PUT", "PATCH", "DELETE")
            }
        case nil:
            throw Refusal(404, "there is nothing at \(call.shownPath)")
        }
    }

    /// Returns an answer with one row.
    func one(_ row: Row, status: Int = 200) -> Answer {
        var answer = Answer(status: status, json: settings.wrapped(row.document(settings)))
        if settings.preconditions { answer.headers["ETag"] = "\"\(row.version)\"" }
        return answer
    }

    /// Returns the row with an ID; 404 if it does not exist or is deleted.
    func row(_ name: String, _ key: String) throws(Refusal) -> Row {
        guard let row = collections[name]?.live(key) else { throw Refusal(404, "\(name) \(key) does not exist") }
        return row
    }
}
