import Foundation

extension Space {
    /// Keeps the bytes that were sent to `files/{name}`, under a name of the server's own, which ends in the one that was sent.
    func parseUpload(_ name: String, _ call: Call) throws(Refusal) -> Answer {
        if call.body.count > settings.fileSize { throw Refusal(413, "request entity too large") }
        if call.body.isEmpty { throw .parse(130, "Invalid file upload.") }
        if let reason = ParseFile.refusal(of: name) { throw .parse(122, reason) }
        let number = String(nextObjectID(), radix: 16)
        let own = String(repeating: "f", count: 32 - number.count) + number + "_" + name
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        // The address without the name that was sent.
        let place = call.address.prefix(upTo: call.address.lastIndex(of: "/") ?? call.address.endIndex)
        let escaped = own.addingPercentEncoding(withAllowedCharacters: allowed) ?? own
        let url = "\(place)/\(settings.applicationID ?? "app")/\(escaped)"
        parseFiles[own] = ParseFile(
            url: url, type: call.header("Content-Type") ?? "application/octet-stream", data: call.body)
        var answer = Answer(status: 201, json: ["url": .string(url), "name": .string(own)])
        answer.headers["Location"] = url
        return answer
    }

    /// The bytes of a file, for everybody.
    func parseDownload(_ name: String) -> Answer {
        guard let file = parseFiles[name] else {
            return Answer(status: 404, type: "text/plain", body: Data("File not found.".utf8))
        }
        return Answer(status: 200, type: file.type, body: file.data)
    }

    /// A value of an object; of a file that is named its address too.
    func parseExpanded(_ value: JSON) -> JSON {
        guard case .object(var members) = value, members["__type"]?.text == "File", members["url"] == nil,
            let file = members["name"]?.text.flatMap({ parseFiles[$0] })
        else { return value }
        members["url"] = .string(file.url)
        return .object(members)
    }
}
