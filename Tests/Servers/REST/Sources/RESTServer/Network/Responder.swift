import Hummingbird
import HummingbirdCore

/// Answers requests from the spaces, and closes connections for faults.
struct Responder: HTTPResponder {
    /// All spaces.
    let spaces: Spaces

    /// The most bytes of a body, more than any test sends.
    private static let largestBody = 64 << 20

    /// Answers a request, or closes its connection.
    func respond(to request: Request, context: Connection) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: Self.largestBody)
        let components = Call.components(of: request)
        guard let name = components.first, !name.hasPrefix("_") else {
            return Response(Refusal(404, "a path begins with the name of a space").answer)
        }
        let space = await spaces[name]
        switch await space.answer(Call(request, components: components.dropFirst(), body: body)) {
        case .answer(let answer):
            return Response(answer)
        case .cut(let answer):
            return Response(cutting: answer, on: context)
        case .drop:
            await context.close()
        case .stall:
            await stall(request)
            await context.close()
        }
        // The connection is closed, so this answer is never sent.
        return Response(Answer(status: 500))
    }

    /// Waits until the client closes the connection.
    private func stall(_ request: Request) async {
        try? await request.body.consumeWithCancellationOnInboundClose { _ in
            try await Task.sleep(for: .seconds(86_400))
        }
    }
}
