import Foundation

extension Space {
    /// Stores the body of a request to `files/{name}` under a name that the server assigns, which ends with the sent
    /// name.
    func parseUpload(_ name: String, _ call: Call) throws(Refusal) -> Answer {
        if call.body.count > settings.fileSize { throw Refusal(413, "request entity too large") }
        if call.body.isEmpty { throw .parse(130, "Invalid file upload.") }
        if let reason = ParseFile.refusal(of: name) { throw .parse(122, reason) }
        let number = String(nextObjectID(), radix: 16)
        let own = String(repeating: "f", count: 32 - number.count) + number + "_" + name
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        // The URL without the sent name.
        let place = call.address.prefix(upTo: call.address.lastIndex(of: "/") ?? call.address.endIndex)
        let escaped = own.addingPercentEncoding(withAllowedCharacters: allowed) ?? own
        let url = "\(place)/\(settings.applicationID ?? "app")/\(escaped)"
        parseFiles[own] = ParseFile(
            url: url, type: call.header("Content-Type") ?? "application/octet-stream", data: call.body)
        var answer = Answer(status: 201, json: ["url": .string(url), "name": .string(own)])
        answer.headers["Location"] = url
        return answer
    }

    /// Answers the bytes of a file, without authentication.
    func parseDownload(_ name: String) -> Answer {
        guard let file = parseFiles[name] else {
            return Answer(status: 404, type: "text/plain", body: Data("File not found.".utf8))
        }
        return Answer(status: 200, type: file.type, body: file.data)
    }

    /// Returns a value of an object. A file without a URL gets its URL.
    func parseExpanded(_ value: JSON) -> JSON {
        guard case .object(var members) = value, members["__type"]?.text == "File", members["url"] == nil,
            let file = members["name"]?.text.flatMap({ parseFiles[$0] })
        else { return value }
        members["url"] = .string(file.url)
        return .object(members)
    }
}
