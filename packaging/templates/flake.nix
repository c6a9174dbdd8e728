# Nix: nix run path:FOLDER-OF-THIS-FILE -- sprt
{
  description = "Runs matches between chess engines and reports the results with confidence intervals";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let pkgs = nixpkgs.legacyPackages.x86_64-linux;
    in {
      packages.x86_64-linux.default = pkgs.stdenvNoCC.mkDerivation {
        pname = "arbiter";
        version = "@VERSION@";
        src = pkgs.fetchurl {
          url = "@URL@";
          sha256 = "@SHA256@";
        };
        dontStrip = true;
        installPhase = "mkdir $out && cp -r bin share $out";
        meta = {
          homepage = "@REPOSITORY@";
          license = pkgs.lib.licenses.gpl3Plus;
          mainProgram = "arbiter";
          platforms = [ "x86_64-linux" ];
        };
      };
    };
}
