extension Space {
    /// Refuses with 412 a change that was meant for another state of the row, which is the body then.
    func checkPreconditions(_ call: Call, _ row: Row?) throws(Refusal) {
        guard settings.preconditions else { return }
        if row != nil, isForNewRow(call) { throw failed(row) }
        guard let tags = call.header("If-Match") else { return }
        let wanted = tags.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\"" } }
        guard let row, wanted.contains("*") || wanted.contains(String(row.version)) else { throw failed(row) }
    }

    /// Whether a call is to be carried out only where there is no row yet.
    func isForNewRow(_ call: Call) -> Bool {
        settings.preconditions && call.method == "PUT" && call.header("If-None-Match") == "*"
    }

    /// The refusal, with the row if there is one.
    private func failed(_ row: Row?) -> Refusal {
        var refusal = Refusal(412, "the row does not exist")
        guard let row else { return refusal }
        refusal.body = settings.wrapped(row.document(settings))
        refusal.headers = ["ETag": "\"\(row.version)\""]
        return refusal
    }
}
