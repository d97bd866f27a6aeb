public import Foundation
import HTTPTypes
public import SyncCore

extension PocketBaseService: FileService {
    /// `/api/files/COLLECTION/ID/NAME`.
    public func reference(to name: String, of entity: String, id: JSONValue) throws -> FileReference {
        FileReference(
            try exchange.url(
                ["api", "files", collection(of: entity)] + RowAddress(id).parts + RowAddress(.string(name)).parts))
    }

    /// The bytes of a file; of a protected one with a token for files, which PocketBase gives the user.
    public func download(_ reference: FileReference) async throws -> Data {
        guard reference.url.isSameOrigin(as: exchange.base) else {
            throw FileFailure.elsewhere(reference.url.absoluteString)
        }
        let answer = try await exchange.send(.get, reference.url, headers: [.accept: "*/*"])
        switch answer.status {
        case 200..<300: return answer.body
        case 403, 404:
            guard let token = try await fileToken() else { throw FileFailure.missing(reference.url.path) }
            let address = "\(reference.url.absoluteString)?token=\(token.escapedForURL)"
            let url = try exchange.url(following: address, from: exchange.base)
            let again = try await exchange.send(.get, url, headers: [.accept: "*/*"])
            switch again.status {
            case 200..<300: return again.body
            case 403, 404: throw FileFailure.missing(reference.url.path)
            default: throw again.refusal
            }
        default: throw answer.refusal
        }
    }

    private func fileToken() async throws -> String? {
        guard try await exchange.authorization().value != nil else { return nil }
        let answer = try await asKnown(if: \.isRefused) {
            try await exchange.send(.post, exchange.url(["api", "files", "token"]))
        }
        guard (200..<300).contains(answer.status), case .string(let token)? = try answer.json()["token"] else {
            return nil
        }
        return token
    }

    /// As a form: the file that the field held before goes.
    public func upload(_ file: FileUpload) async throws -> PushOutcome {
        let form = MultipartForm(file.path.joined(separator: "."), file)
        do {
            let url = try exchange.url(path(of: file.entity) + RowAddress(file.id).parts)
            let answer = try await asKnown(if: \.isRefused) {
                try await exchange.send(.patch, url, content: .init(data: form.data, type: form.type))
            }
            guard (200..<300).contains(answer.status) else {
                let operation = PushOperation(
                    entity: file.entity, kind: .update, id: file.id, body: [:], version: nil, idempotencyKey: "")
                return try await refused(answer, operation)
            }
            guard let row = row(try answer.json(), of: file.entity) else { return .unknown("the answer is no record") }
            return .applied(row)
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceFailure.malformed(let text) {
            return .unknown(text)
        }
    }
}
