public import Foundation
import HTTPTypes
public import SyncCore

// A file is sent by itself, and gets a name and an address; then the row is told. What a row holds of it is the address.
extension ParseService: FileService {
    /// The address that a row holds; of a mere name, where the server has files of that name.
    public func reference(to name: String, of entity: String, id: JSONValue) throws -> FileReference {
        if let url = URL(string: name), url.scheme != nil { return FileReference(url) }
        return FileReference(try exchange.url(["files", options.applicationID] + RowAddress(.string(name)).parts))
    }

    /// The bytes of a file.
    public func download(_ reference: FileReference) async throws -> Data {
        guard reference.url.isSameOrigin(as: exchange.base) else {
            throw FileFailure.elsewhere(reference.url.absoluteString)
        }
        let answer = try await exchange.send(.get, reference.url, headers: [.accept: "*/*"])
        switch answer.status {
        case 200..<300: return answer.body
        case 403, 404: throw FileFailure.missing(reference.url.path)
        default: throw try refusal(answer)
        }
    }

    /// `PREFIX_NAME`: the server puts 32 digits before the name that was sent, unless it was told to keep names.
    public func sentName(of name: String) -> String {
        let name = name.lastPathPart ?? name
        guard let mark = name.firstIndex(of: "_"), name[..<mark].allSatisfy(\.isHexDigit) else { return name }
        return String(name[name.index(after: mark)...])
    }

    /// The bytes, then the row's field: that is what says the file is there. The one that it held before stays on the server, which
    /// deletes files for its master key only.
    public func upload(_ file: FileUpload) async throws -> PushOutcome {
        guard let field = Self.field(at: file.path) else {
            return .rejected("'\(file.path.joined(separator: "."))' is a part of an object, which holds no file")
        }
        do {
            let id = try RowAddress(file.id).parts
            let url = try exchange.url(["files", Self.plainName(file.name)])
            let stored = try await exchange.send(.post, url, content: .init(data: file.data, type: file.type))
            guard (200..<300).contains(stored.status) else { return try refused(stored) }
            guard case .string(let name)? = try stored.json()["name"] else {
                return .unknown("the answer to a file has no name")
            }
            let reference: JSONValue = ["__type": "File", "name": .string(name)]
            let naming = Request(
                method: .put, path: path(of: className(of: file.entity)) + id,
                body: .object([.init(field, reference)]))
            let operation = PushOperation(
                entity: file.entity, kind: .update, id: file.id, body: [:], version: nil, idempotencyKey: "")
            let outcome = outcome(try await send(naming, nil), operation)
            guard case .applied = outcome else { return outcome }
            guard case .found(let row)? = try await fetch([file.id], of: file.entity).first else { return .gone }
            return .applied(row)
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceFailure.malformed(let text) {
            return .unknown(text)
        }
    }

    private func refused(_ answer: HTTPExchange.Answer) throws -> PushOutcome {
        guard let error = ParseError(answer) else { throw try refusal(answer) }
        if let failure = error.failure { throw failure }
        return .rejected(error.reason)
    }

    /// The field that holds a file, whose address or name a member may be (`photo.url`).
    private static func field(at path: [String]) -> String? {
        path.count == 1 || path.count == 2 && ["url", "name"].contains(path[1]) ? path[0] : nil
    }

    /// A name as the server takes it: plain characters, no more than 128, with its ending.
    private static func plainName(_ name: String) -> String {
        let plain = String(
            name.map { character in
                character.isASCII && (character.isLetter || character.isNumber || "@. ~_-".contains(character))
                    ? character : "_"
            })
        guard plain.count > 128 else { return plain }
        let ending = plain.split(separator: ".").last.map { "." + $0 } ?? ""
        return ending.count < 64 ? plain.prefix(128 - ending.count) + ending : String(plain.prefix(128))
    }
}
