#include "app/help.hpp"

namespace convfilt {
namespace {

constexpr CommandHelp kCommands[] = {
    {"blur", "Gaussian blur, or the mean of a box",
     "Blur a picture with a Gaussian, or with a box.\n\n"
     "Examples:\n"
     "  convfilt blur photo.jpg soft.jpg                 Gaussian, sigma 2\n"
     "  convfilt blur photo.jpg backdrop.jpg --sigma 40\n"
     "  convfilt blur scan.tif mean.tif --box 9          mean of 9x9 pixels\n"
     "  convfilt blur photos/ out/ -r                    a folder, and those in it\n"},
    {"sharpen", "Unsharp mask: add what a blur takes away",
     "Sharpen a picture by an unsharp mask: add A times what a Gaussian blur takes\n"
     "away.\n\n"
     "Examples:\n"
     "  convfilt sharpen photo.jpg crisp.jpg\n"
     "  convfilt sharpen photo.jpg crisp.jpg --amount 0.5\n"
     "  convfilt sharpen scan.png local.png --sigma 10   contrast of larger things\n"},
    {"edge", "Where brightness changes: Sobel, Scharr, Prewitt, Laplacian, LoG",
     "Find edges: bright where a colour changes fast, black where it does not.\n\n"
     "Examples:\n"
     "  convfilt edge photo.jpg edges.png                length of the Sobel gradient\n"
     "  convfilt edge photo.jpg upright.png --direction x\n"
     "  convfilt edge photo.jpg blobs.png --method log --sigma 3\n"},
    {"apply", "Any mask: from a text file, or a filter by name",
     "Apply a mask: a text file of numbers, rows on lines, or a filter by name.\n\n"
     "Examples:\n"
     "  convfilt apply emboss3 photo.jpg relief.png\n"
     "  convfilt apply my-mask.txt photo.jpg out.png     filters/README.md: the grammar\n"
     "  convfilt apply gaussian5 photo.png out.png --strategy tiled-in -v\n"},
    {"compare", "Every way to convolve, beside each other: speed, reads, exactness",
     "Compare ways to convolve, on a picture or on noise: how fast, against what the\n"
     "device could do, and how right. Without a GPU its kernels are counted in the\n"
     "emulator instead of timed.\n\n"
     "Examples:\n"
     "  convfilt compare                             every strategy, some masks, noise\n"
     "  convfilt compare photo.jpg --mask 9x9 --mask emboss3\n"
     "  convfilt compare --strategies basic,tiled-out:tile=16,auto --depth f32\n"
     "  convfilt compare --size 1920x1080,8192x8192 --depth u8,f32 --masks 3,7,15\n"
     "  convfilt compare --json=all.json --plot bars.svg     the table, too\n"
     "  convfilt compare --markdown >table.md\n"},
    {"explain", "What one block of a strategy does, in numbers and as a picture",
     "Explain what one block of a strategy does, checked against the emulator's\n"
     "counts; or show the textbook's tables of reuse, or of ways to overlap blocks.\n\n"
     "Examples:\n"
     "  convfilt explain tiled-in --mask 5x5 --tile 16\n"
     "  convfilt explain tiled-out --mask 9x9 --size 1920x1080 --arch sm_89\n"
     "  convfilt explain tiled-in --mask 5x5 --size 64x44 --picture tiles.svg --at 0,0\n"
     "  convfilt explain in-parts --mask 36x1 --size 60x1 --part 6 --block 12 --mode full --flip\n"
     "  convfilt explain --table tile=8,16,32,64 mask=5,9\n"
     "  convfilt explain --table overlap --mask 9x9\n"},
    {"tune", "Measure this machine, so that auto takes what is fastest on it",
     "Measure this machine, CPU and GPU, so that auto takes what is fastest on it. The\n"
     "profile is written whole at the end, or not at all; it may change how long a\n"
     "command takes, never its bytes, but for transforms' roundings where it moves\n"
     "them between CPU and GPU.\n\n"
     "It lies in $XDG_CACHE_HOME/convfilt/profiles, else ~/.cache/convfilt/profiles.\n"
     "Where the environment variable CONVFILT_PROFILES names a folder, profiles are\n"
     "read from that alone.\n\n"
     "Examples:\n"
     "  convfilt tune\n"
     "  convfilt tune --quick --device cpu\n"
     "  convfilt tune --output my-gpu.json               to be looked at, or shared\n"},
    {"mask", "What a mask is: size, sum, rank, exactness, weights, response",
     "Check a mask, which says its size, sum, rank and factors, whether its weights\n"
     "are exact, and what auto takes for it; or show its weights, and how strongly it\n"
     "passes waves of each frequency.\n\n"
     "Examples:\n"
     "  convfilt mask check my-mask.txt\n"
     "  convfilt mask check gaussian7 --size 8192x8192 --depth u16\n"
     "  convfilt mask show sobel_x\n"
     "  convfilt mask show log5 --output log5-response.png\n"},
    {"merge", "Whether the results of several machines are whole",
     "Join the journals that runs with --shard have left in the folder of their\n"
     "results, and say what is missing, has failed, was done twice, or was kept as it\n"
     "was there, so that other options may have made it.\n\n"
     "Examples:\n"
     "  convfilt blur photos/ out/ --shard 1/2           on one machine\n"
     "  convfilt blur photos/ out/ --shard 2/2           on another\n"
     "  convfilt merge out/\n"},
    {"try", "A kernel of your own: is it right, and if not, what is wrong",
     "Run a convolution kernel, written in plain CUDA C++, on pictures of many sizes,\n"
     "and say what is wrong with it and in which line. On the host, which needs no GPU,\n"
     "every access to memory is watched; on a GPU it is also timed beside our\n"
     "strategies. The file has one __global__ function; of main() and other functions for\n"
     "the host the launch alone is read, where no comment says it:\n\n"
     "  // launch: block 20x20, a block for each 16x16 outputs\n"
     "  __constant__ float F[5][5];    // the mask, or else a parameter float* mask\n"
     "  __global__ void filter(float* in, float* out, int width, int height)\n\n"
     "Samples are floats, weights apply as they stand, ghost cells are 0, or outputs lie\n"
     "only where the whole mask lies inside (\"valid\"). A kernel with a width but no height\n"
     "filters lines; one with a depth filters volumes, and its mask is a cube; one with\n"
     "channels gets three. Parameters are known by their names, in any order:\n"
     "the mask's side may be one (int mask_width, int mask_height), or its radius (int r).\n"
     "Where names say nothing, the output is what is written to, and two numbers are width\n"
     "and height. Templates take what the launch says, else their defaults.\n"
     "Nobody knows what is in out when the kernel begins, unless --clear-out says that the\n"
     "host sets it to 0, or the comment does: // launch: block 16x16, out cleared\n"
     "It is compiled by c++, or by what CXX names, and for the GPU by nvcc, or by what\n"
     "NVCC names.\n\n"
     "A run ends after 10 s of a processor's time. The kernel runs with your rights: no\n"
     "sandbox keeps it from your files, so graders try others' kernels in a container.\n\n"
     "Exit codes: 0 it is right; 1 it is wrong, or not compiled; 2 the command line is\n"
     "wrong; 3 there is no verdict, as the file or a compiler is missing. --json prints\n"
     "an object with a \"status\" in all cases but 2: right, wrong, refused,\n"
     "not_compiled or error.\n\n"
     "Examples, the first of them in share/convfilt of an installation:\n"
     "  convfilt try samples/kernels/tiled_in.cu\n"
     "  convfilt try my_kernel.cu --block 16x16 --outputs 12x12\n"
     "  convfilt try my_kernel.cu --mode valid --tolerance 0.001\n"
     "  convfilt try my_kernel.cu --json\n"},
    {"list", "Strategies, filters and devices to choose from",
     "List what there is to choose from.\n\n"
     "Examples:\n"
     "  convfilt list\n"
     "  convfilt list filters\n"
     "  convfilt list devices                        which GPU, or why there is none\n"},
    {"generate", "The manual page, or completions for a shell",
     "Print the manual page, or what lets a shell complete options and their values.\n"
     "An installed convfilt has brought them along.\n\n"
     "Examples:\n"
     "  convfilt generate man >convfilt.1\n"
     "  convfilt generate bash >~/.local/share/bash-completion/completions/convfilt\n"
     "  convfilt generate fish >~/.config/fish/completions/convfilt.fish\n"},
};

std::string command_table() {
  std::string text = "Commands:\n";
  for (const CommandHelp& command : kCommands) {
    text += "  " + std::string(command.name);
    text.append(10 - command.name.size(), ' ');
    text += std::string(command.summary) + "\n";
  }
  return text;
}

}  // namespace

std::span<const CommandHelp> command_helps() {
  return kCommands;
}

std::string general_help() {
  return "convfilt blurs, sharpens, finds edges and applies any mask to pictures: exactly,\n"
         "and with the same bytes on every CPU and GPU, but for roundings under very\n"
         "large masks.\n\n"
         "Examples:\n"
         "  convfilt blur photo.jpg soft.jpg\n"
         "  convfilt sharpen photo.jpg crisp.jpg --amount 0.5\n"
         "  convfilt edge photo.jpg edges.png\n"
         "  convfilt apply emboss3 photo.jpg relief.png\n"
         "  convfilt sharpen photos/ out/ -r                 a folder of pictures\n"
         "  convfilt blur - - --format png < in.png > out.png\n\n"
         "Usage: convfilt COMMAND [OPTIONS] ...\n\n" +
         command_table() +
         "\nOptions can be set for good, in ~/.config/convfilt/config.toml or by variables\n"
         "such as CONVFILT_BORDER; CONVFILT_FILTERS names a folder of masks of your own,\n"
         "and CONVFILT_PROFILES one of profiles.\n"
         "\nconvfilt COMMAND --help says more about each; convfilt --version says which\n"
         "version this is.\n";
}

std::string short_help() {
  return "say what to do, e.g. convfilt blur photo.jpg soft.jpg\n\n" + command_table() +
         "\nconvfilt --help shows examples.";
}

std::string version_text() {
  return "convfilt " CONVFILT_VERSION "\n";
}

}  // namespace convfilt
