public import Foundation
import HTTPTypes
import SyncCore

extension PocketBaseService {
    /// So often a token may run out amid one question.
    private static let mostTokens = 3

    /// Asks, and once more if the token ran out meanwhile: the server gives no error then, but answers as to somebody unknown.
    ///
    /// - Parameter isDoubtful: Whether such an answer may be owed to that.
    func asKnown<T: Sendable>(
        if isDoubtful: (T) -> Bool = { _ in true }, _ body: () async throws -> T
    ) async throws -> T {
        for _ in 0..<Self.mostTokens {
            let (token, generation) = try await exchange.authorization()
            let answer = try await body()
            guard isDoubtful(answer), let token else { return answer }
            guard let account = Self.accounts(ofToken: token) else {
                throw ServiceFailure.unauthorized("what 'Authorization' holds is no token of PocketBase's")
            }
            // A 401 has the exchange get another token, and end with `unauthorized` if there is none.
            let url = try exchange.url(["api", "collections", account, "auth-refresh"])
            let known = try await exchange.send(.post, url)
            guard (200..<300).contains(known.status) else { throw ServiceFailure.unauthorized(known.message) }
            if try await exchange.authorization().generation == generation { return answer }
        }
        throw ServiceFailure.unauthorized("every token ran out at once")
    }

    /// The collection of the user that a token is of; nil for what is no token of PocketBase's.
    static func accounts(ofToken token: String) -> String? {
        let parts = token.split(separator: " ").last?.split(separator: ".") ?? []
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text),
            case .string(let name)? = try? JSONValue(parsing: data)["collectionId"]
        else { return nil }
        return name
    }

    /// Credentials of a user with a password: signs in for the first request, and again when the token is not taken any more.
    ///
    /// - Parameters:
    ///   - url: The address of the server, without `/api`.
    ///   - collection: The collection of the user; `_superusers` for an administrator.
    ///   - identity: The mail address, or whatever the collection takes as a name.
    public static func login(
        at url: URL, collection: String = "users", identity: String, password: String,
        transport: any HTTPTransport = DefaultTransport()
    ) -> ServiceCredentials {
        let exchange = HTTPExchange(url, headers: [:], transport, .none)
        exchange.secrets.note(password)
        return ServiceCredentials { _ in
            let url = try exchange.url(["api", "collections", collection, "auth-with-password"])
            let answer = try await exchange.send(
                .post, url, ["identity": .string(identity), "password": .string(password)])
            guard (200..<300).contains(answer.status), case .string(let token)? = try answer.json()["token"] else {
                throw ServiceFailure.unauthorized(
                    "signing in as '\(identity)' of '\(collection)' failed: \(answer.message)")
            }
            return [.authorization: token]
        }
    }
}
