extension Space {
    /// Rejects a change with 412 if its precondition fails. The body is the row.
    func checkPreconditions(_ call: Call, _ row: Row?) throws(Refusal) {
        guard settings.preconditions else { return }
        if row != nil, isForNewRow(call) { throw failed(row) }
        guard let tags = call.header("If-Match") else { return }
        let wanted = tags.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\"" } }
        guard let row, wanted.contains("*") || wanted.contains(String(row.version)) else { throw failed(row) }
    }

    /// Returns whether a call requires that the row does not exist.
    func isForNewRow(_ call: Call) -> Bool {
        settings.preconditions && call.method == "PUT" && call.header("If-None-Match") == "*"
    }

    /// Returns the rejection, with the row if it exists.
    private func failed(_ row: Row?) -> Refusal {
        var refusal = Refusal(412, "the row does not exist")
        guard let row else { return refusal }
        refusal.body = settings.wrapped(row.document(settings))
        refusal.headers = ["ETag": "\"\(row.version)\""]
        return refusal
    }
}
