import AfarTransport

extension Transfer {
    /// Whether it was decided that the server is the right one, where somebody decides on that.
    func isTrusted(_ connection: TLSConnection?) -> Bool {
        guard let security = pool?.security, security.evaluation != nil else { return true }
        guard let connection else {
            state.fail(Fault(.secureConnectionFailed, "the server's certificates are not known"))
            return false
        }
        guard !connection.isTrusted(under: security) else { return true }
        let chain = connection.presentedChain
        guard security.accepts(chain) else {
            state.fail(undecided(chain))
            return false
        }
        connection.setTrusted(under: security)
        return true
    }

    /// Why the handshake ended where the client was to say who it is; nil when it did not end there.
    var handshakeFault: Fault? { handle?.handshake?.undecided.map { undecided($0.chain) } }

    private func undecided(_ chain: PresentedChain) -> Fault {
        Fault(
            .certificateUntrusted, "nobody has decided on the server's certificates",
            underlying: pool.map { UndecidedTrust(chain, authorities: $0.authorities) })
    }
}
